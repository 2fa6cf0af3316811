! SPDX-License-Identifier: BSD-3-Clause
! Coarrays: images sum gradients by co_sum. A network 64-64-10 learns digits.csv.
program coarrays
    implicit none
    integer, parameter :: total = 1797, tests = 360, batch = 32, steps = 800
    integer :: label(total), step, i, j, hits, me, images, unit
    real :: x(64, total), w1(64, 64), w2(64, 10), g1(64, 64), g2(64, 10)
    real :: hidden(64), error(10), back(64), row(65)

    me = this_image()
    images = num_images()
    open (newunit=unit, file='digits.csv', status='old', action='read')
    do i = 1, total
        read (unit, *) row
        x(:, i) = row(:64) / 16
        label(i) = nint(row(65)) + 1
    end do
    close (unit)
    do j = 1, 64
        do i = 1, 64
            w1(i, j) = 0.2 * sin(real(i * 64 + j) ** 2)
        end do
        w2(j, :) = [(0.2 * sin(real(j * 10 + i) ** 2), i = 1, 10)]
    end do

    do step = 1, steps
        g1 = 0
        g2 = 0
        do j = 1, batch
            ! Images take turns.
            i = modulo((step * batch + j) * images + me, total - tests) + 1
            call forward(i)
            error(label(i)) = error(label(i)) - 1
            back = merge(matmul(w2, error), 0.0, hidden > 0)
            g2 = g2 + spread(hidden, 2, 10) * spread(error, 1, 64)
            g1 = g1 + spread(x(:, i), 2, 64) * spread(back, 1, 64)
        end do
        call co_sum(g1)
        call co_sum(g2)
        w1 = w1 - 0.2 / (batch * images) * g1
        w2 = w2 - 0.2 / (batch * images) * g2
    end do

    hits = 0
    do i = total - tests + 1, total
        call forward(i)
        if (maxloc(error, 1) == label(i)) hits = hits + 1
    end do
    if (me == 1) print '(a, f0.2)', 'accuracy ', 100.0 * hits / tests
    print '(a, 3(1x, z8.8))', 'weights', transfer(sum(w1), 0), &
        transfer(sum(w2), 0), transfer(w1(29, 3), 0)

contains
    ! The hidden layer and the probabilities of image i.
    subroutine forward(i)
        integer, intent(in) :: i
        hidden = max(matmul(x(:, i), w1), 0.0)
        error = matmul(hidden, w2)
        error = exp(error - maxval(error))
        error = error / sum(error)
    end subroutine
end program
