"""A process that stays for ten minutes after `autograder grade`, so that the next command need not start again.

    autograder grade …          the client: hands its arguments, folder, environment and terminal over, and waits
        │ a socket in a folder that only this user may enter
    the daemon                  has imported what commands import, and holds servers that are ready; runs nothing itself
        │ forks
    the command                 does what it would have done without a daemon, and gives its servers back at the end

A command that finds no daemon starts one. Where that cannot be done (another system than Linux, a folder that is not
ours), or where AUTOGRADER_STAY_SECONDS is 0, the command does everything itself.
"""
