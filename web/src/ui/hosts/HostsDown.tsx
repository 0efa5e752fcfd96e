import { Alert, Anchor } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Unplug } from 'lucide-react'
import { Fragment } from 'react'
import { countsQuery } from '../../api/queries/counts'
import { AppLink } from '../AppLink'
import { Ago } from '../state/Time'
import { useHostText } from './text'

/** A red banner while a host with monitors or tasks has no connected agent. */
export function HostsDown() {
  const w = useHostText()
  const { data } = useQuery(countsQuery)
  const hosts = data?.hosts
  if (!hosts?.down) return null
  const remaining = hosts.down - hosts.down_hosts.length
  return (
    <Alert
      color="red"
      variant="light"
      icon={<Unplug size={16} />}
      title={w.hostsDown(hosts.down)}
      className="hosts-down"
      role="alert"
      mb="md"
    >
      {hosts.down_hosts.map((host, n) => (
        <Fragment key={host.id}>
          {n ? ', ' : ''}
          <Anchor
            component={AppLink}
            to={`/hosts/${host.id}`}
            inherit
            c="inherit"
            td="underline"
            fw={600}
          >
            {host.hostname}
          </Anchor>
          {host.last_seen ? (
            <>
              {` (${w.lastSeen} `}
              <Ago at={host.last_seen} />)
            </>
          ) : null}
        </Fragment>
      ))}
      {remaining > 0 ? (
        <>
          {' '}
          <Anchor component={AppLink} to="/hosts" inherit c="inherit" td="underline">
            {w.moreHosts(remaining)}
          </Anchor>
        </>
      ) : null}
      . {w.hostsDownBody(hosts.down)}
    </Alert>
  )
}
