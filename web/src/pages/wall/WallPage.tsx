import { ActionIcon, Group } from '@mantine/core'
import { useFullscreenDocument } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { LayoutDashboard, Maximize } from 'lucide-react'
import { useLink } from '../../api/live'
import { countsQuery } from '../../api/queries/counts'
import { type IndicatorLine, tilesQuery } from '../../api/queries/monitoring/indicator'
import { type MonitorLine, monitorsQuery } from '../../api/queries/monitoring/monitor'
import { useProfile } from '../../app/session'
import { useStream } from '../../app/stream'
import { useAlarm, usePageTitle } from '../../app/title'
import { dateTime } from '../../lib/format'
import { watchLook, watchWord } from '../../lib/state'
import { Go } from '../../ui/AppLink'
import { Tile } from '../../ui/indicators/IndicatorTile'
import { byNeed } from '../../ui/monitoring/display'
import { StateIcon } from '../../ui/state/StateIcon'
import { Lasting, useNow } from '../../ui/state/Time'
import { useAwake } from './keepAwake'
import { useText } from './text'
import './wall.css'

const SHOWN = 12

/** Tiles and failing monitors, big enough to be read from across the room. */
export function WallPage() {
  const t = useText()
  usePageTitle(t.title)
  useStream()
  useAwake()
  const { data: tiles } = useQuery(tilesQuery)
  const { data: bad } = useQuery(monitorsQuery({ state: 'problems' }, 0, SHOWN))
  const { data: counts } = useQuery(countsQuery)
  const failing = counts?.monitors.failure ?? 0
  useAlarm(failing)
  // Nobody scrolls a wall: what is well stands below what is not.
  const isFirst = (one: IndicatorLine) => !bad?.rows.length || watchLook(one) !== 'ok' || one.sticky
  const sorted = tiles?.rows.toSorted(byNeed) ?? []
  const left = (tiles?.total ?? 0) - sorted.length
  return (
    <main className="wall" data-link={useLink().link}>
      <Head />
      <Tiles tiles={sorted.filter(isFirst)} label={t.indicators} />
      {bad?.rows.length ? (
        <section className="wall-bad" aria-label={t.problems}>
          {bad.rows.map((line) => (
            <Bad key={line.id} line={line} />
          ))}
          {(bad.total ?? 0) > SHOWN ? (
            <Go to="/monitors" search={{ state: 'problems' }} className="wall-more">
              {t.more((bad.total ?? 0) - SHOWN)}
            </Go>
          ) : null}
        </section>
      ) : counts && bad ? (
        <Well normal={counts.monitors.normal} />
      ) : null}
      <Tiles tiles={sorted.filter((one) => !isFirst(one))} label={t.wellTiles} />
      {left > 0 ? (
        <Go to="/indicators" className="wall-more">
          {t.moreTiles(left)}
        </Go>
      ) : null}
    </main>
  )
}

function Tiles({ tiles, label }: { tiles: IndicatorLine[]; label: string }) {
  if (tiles.length === 0) return null
  return (
    <section className="wall-tiles" aria-label={label}>
      {tiles.map((one) => (
        <Tile key={one.id} one={one} big />
      ))}
    </section>
  )
}

function Head() {
  const t = useText()
  const now = useNow()
  const { link } = useLink()
  const { current_customer: here } = useProfile()
  const { data: counts } = useQuery(countsQuery)
  const { toggle } = useFullscreenDocument()
  const hosts = counts?.hosts
  const parts = counts &&
    hosts && [
      counts.monitors.failure && t.failing(counts.monitors.failure),
      counts.monitors.updates_stopped && t.silent(counts.monitors.updates_stopped),
      counts.needs && t.needs(counts.needs),
      counts.jobs.running && t.running(counts.jobs.running),
      counts.jobs.queued && t.queued(counts.jobs.queued),
      t.hosts(hosts.online, hosts.online + hosts.offline + hosts.unreachable),
    ]
  return (
    <header className="wall-head">
      <h1>{here.name}</h1>
      <span className="wall-sum">{parts ? parts.filter(Boolean).join(' · ') : null}</span>
      {link === 'offline' ? <b role="alert">{t.old}</b> : null}
      <Group gap={8} ml="auto" wrap="nowrap">
        <span className="wall-clock num">
          {dateTime(now, { hour: '2-digit', minute: '2-digit' })}
        </span>
        <span className="link-state" data-link={link} role="status">
          <i className="dot" />
          {t.link[link]}
        </span>
        <ActionIcon
          size="lg"
          className="wall-act"
          aria-label={t.full}
          onClick={() => void toggle()}
        >
          <Maximize size={18} />
        </ActionIcon>
        <ActionIcon size="lg" className="wall-act" component={Go} to="/" aria-label={t.leave}>
          <LayoutDashboard size={18} />
        </ActionIcon>
      </Group>
    </header>
  )
}

function Bad({ line }: { line: MonitorLine }) {
  const look = watchLook(line)
  return (
    <article className="wall-monitor" data-look={look}>
      <StateIcon look={look} size={40} />
      <div className="clip">
        <div className="wall-name clip">{line.name}</div>
        <div className="wall-sub clip">
          {watchWord(line)} · <Lasting from={line.state_since} />
          {line.hostname && line.hostname !== line.name ? ` · ${line.hostname}` : null}
        </div>
        {line.message ? <div className="wall-said clip">{line.message}</div> : null}
      </div>
    </article>
  )
}

function Well({ normal }: { normal: number }) {
  const t = useText()
  return (
    <section className="wall-well" role="status">
      <StateIcon look={normal ? 'ok' : 'stop'} size={120} />
      <div className="wall-big">{normal ? t.well : t.nothing}</div>
      {normal ? <div className="wall-sub">{t.wellOf(normal)}</div> : null}
    </section>
  )
}
