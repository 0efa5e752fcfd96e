"""The old name of `belvedere.egress.worker`: a server of the previous version that is still running
starts it."""

from belvedere.egress.worker import main

if __name__ == "__main__":
    main()
