"""Settings, enrolment, the machine, installation as a service."""
