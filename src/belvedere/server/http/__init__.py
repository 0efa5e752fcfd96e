"""The application: routing, authentication, bodies, errors, responses, OpenAPI."""
