import { Fragment, type ReactNode } from 'react'

export interface Fact {
  name: string
  value: ReactNode
  mono?: boolean
}

/** Names and values in two columns. */
export function Facts({ facts }: { facts: Fact[] }) {
  return (
    <dl className="jobs-list">
      {facts.map(({ name, value, mono }, i) => (
        <Fragment key={i}>
          <dt>{name}</dt>
          <dd className={mono ? 'mono' : undefined}>{value}</dd>
        </Fragment>
      ))}
    </dl>
  )
}
