"""Sign-in through OpenID Connect providers of an organization.

- `model`, `store`, `service`, `api`: providers and their endpoints.
- `signin_api`: the sign-in itself. `login_flow` keeps the state of an attempt in a cookie,
  `issuer_client` calls the issuer (through `belvedere.egress`), `id_tokens` verifies ID tokens and
  `account_linking` decides which member the claims belong to and opens the session.

Other packages use only the route table in `api`. Passwords, sessions and members belong to
`access`.
"""
