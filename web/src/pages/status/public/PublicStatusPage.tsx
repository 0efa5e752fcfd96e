import { Paper, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { SearchX } from 'lucide-react'
import { ROOT } from '../../../api/client'
import { ApiError } from '../../../api/errors'
import { type PublicStatus, publicStatusQuery } from '../../../api/queries/monitoring/statusPage'
import { usePageTitle } from '../../../app/title'
import { dateTime, span } from '../../../lib/format'
import { type Look, monitorLook } from '../../../lib/state'
import { EmptyState } from '../../../ui/layout/EmptyState'
import { QueryResult } from '../../../ui/layout/QueryResult'
import { StateIcon } from '../../../ui/state/StateIcon'
import { Ago } from '../../../ui/state/Time'
import { useText } from '../text'
import { PartRow } from './PartRow'
import { PublicPosts } from './PublicPosts'
import { Subscribe, SubscriptionLink } from './Subscribe'
import '../status.css'

const publicStatusRoute = getRouteApi('/status/$slug')

/** How it is, for anybody; it looks again by itself. */
export function PublicStatusPage() {
  const t = useText()
  const { slug } = publicStatusRoute.useParams()
  const link = publicStatusRoute.useSearch()
  const query = useQuery(publicStatusQuery(slug))
  usePageTitle(query.data?.title ?? '')
  const isNotFound = query.error instanceof ApiError && query.error.status === 404
  return (
    <main className="status">
      {isNotFound ? (
        <EmptyState icon={SearchX} title={t.notFound}>
          {t.notFoundBody}
        </EmptyState>
      ) : (
        <QueryResult query={query}>
          {(status) => (
            <Stack gap="lg">
              <SubscriptionLink slug={slug} {...link} />
              <StatusBody slug={slug} status={status} isOld={query.isRefetchError} />
            </Stack>
          )}
        </QueryResult>
      )}
    </main>
  )
}

function lookOf(state: string): Look {
  if (state === 'paused') return 'stop'
  // Visitors see that something is wrong with the checks, not a pause.
  return state === 'unknown' ? 'lost' : monitorLook({ state })
}

interface BodyProps {
  slug: string
  status: PublicStatus
  isOld: boolean
}

function StatusBody({ slug, status, isOld }: BodyProps) {
  const t = useText()
  return (
    <Stack gap="lg">
      <header>
        {status.logo ? (
          <img
            className="status-logo"
            src={`${ROOT}-/status/${slug}/logo?v=${status.logo}`}
            alt={t.logoOf(status.title)}
          />
        ) : null}
        <Title order={1} size="h2">
          {status.title}
        </Title>
        {status.description ? <Text c="dimmed">{status.description}</Text> : null}
      </header>
      <div className="status-banner" data-look={lookOf(status.state)} role="status">
        <StateIcon look={lookOf(status.state)} size={32} />
        <div>
          <Text fw={600} size="lg">
            {t.states[status.state] ?? status.state}
          </Text>
          <Text size="xs" component="div">
            {isOld ? t.old : t.updated} <Ago at={status.updated} />
          </Text>
        </div>
      </div>
      <PublicPosts title={t.openPosts} posts={status.posts.filter(({ ended }) => !ended)} />
      {groupParts(status.parts).map(([group, parts]) => (
        <Paper withBorder component="section" aria-label={group || t.parts} key={group}>
          {group ? (
            <Title order={2} size="h6" className="head">
              {group}
            </Title>
          ) : null}
          {parts.map((part) => (
            <PartRow key={part.name} part={part} look={lookOf(part.state)} />
          ))}
        </Paper>
      ))}
      <PublicPosts title={t.pastPosts} posts={status.posts.filter(({ ended }) => ended)} />
      <Incidents incidents={status.incidents} />
      <Subscribe slug={slug} canMail={status.subscribe ?? false} />
      <Text size="xs" c="dimmed" ta="center">
        {t.poweredBy}
      </Text>
    </Stack>
  )
}

function groupParts(parts: PublicStatus['parts']): [string, PublicStatus['parts']][] {
  const groups = new Map<string, PublicStatus['parts']>()
  for (const part of parts) groups.set(part.group, [...(groups.get(part.group) ?? []), part])
  return [...groups]
}

function Incidents({ incidents }: { incidents: PublicStatus['incidents'] }) {
  const t = useText()
  return (
    <section aria-label={t.incidents}>
      <Title order={2} size="h5" mb={8}>
        {t.incidents}
      </Title>
      {incidents.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t.noIncidents}
        </Text>
      ) : (
        <Paper withBorder>
          {incidents.map((incident) => (
            <div className="row status-incident" key={`${incident.name} ${incident.started}`}>
              <StateIcon look={incident.ended ? 'ok' : 'fail'} />
              <div className="clip">
                <Text fw={550} className="clip">
                  {incident.name}
                </Text>
                <Text size="xs" c="dimmed">
                  {dateTime(incident.started, { dateStyle: 'medium', timeStyle: 'short' })}
                </Text>
              </div>
              <Text size="sm">
                {incident.ended ? `${t.lasted} ${span(incident.started, incident.ended)}` : t.still}
              </Text>
            </div>
          ))}
        </Paper>
      )}
    </section>
  )
}
