# SPDX-License-Identifier: BSD-3-Clause
# APS_COMPLETION_DIRS: where completions for bash and zsh are installed: where
# bash-completion looks, if that is below our prefix, and where zsh does.
# Sets bashcompletiondir and zshcompletiondir.
AC_DEFUN([APS_COMPLETION_DIRS], [
AC_ARG_WITH([bash-completion-dir],
    [AS_HELP_STRING([--with-bash-completion-dir=DIR],
        [completions for bash (default: as bash-completion.pc says, below the prefix, or DATADIR/bash-completion/completions)])],
    [], [with_bash_completion_dir=])
AC_ARG_WITH([zsh-completion-dir],
    [AS_HELP_STRING([--with-zsh-completion-dir=DIR],
        [completions for zsh (default: DATADIR/zsh/site-functions)])],
    [], [with_zsh_completion_dir=])
AS_CASE([$with_bash_completion_dir],
    [""|yes|no],
    [bashcompletiondir=`$PKG_CONFIG --define-variable=prefix='${prefix}' dnl
--define-variable=datadir='${datadir}' --variable=completionsdir dnl
bash-completion 2>/dev/null`
     AS_CASE([$bashcompletiondir],
         ['${datadir}'/*|'${prefix}'/*], [],
         [bashcompletiondir='${datadir}/bash-completion/completions'])],
    [bashcompletiondir=$with_bash_completion_dir])
AS_CASE([$with_zsh_completion_dir],
    [""|yes|no], [zshcompletiondir='${datadir}/zsh/site-functions'],
    [zshcompletiondir=$with_zsh_completion_dir])
AC_SUBST([bashcompletiondir])
AC_SUBST([zshcompletiondir])
])
