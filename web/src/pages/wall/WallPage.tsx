import { ActionIcon, Group } from '@mantine/core'
import { useFullscreenDocument } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { LayoutDashboard, Maximize } from 'lucide-react'
import { useConnectionState } from '../../api/live'
import { alarmCount, countsQuery } from '../../api/queries/counts'
import { type IndicatorLine, tilesQuery } from '../../api/queries/monitoring/indicator'
import { type MonitorLine, monitorsQuery } from '../../api/queries/monitoring/monitor'
import { useProfile } from '../../app/session'
import { useStream } from '../../app/stream'
import { usePageTitle, useTitleAlarm } from '../../app/title'
import { dateTime } from '../../lib/format'
import { monitorLook, monitorStateText } from '../../lib/state'
import { AppLink } from '../../ui/AppLink'
import { HostsDown } from '../../ui/hosts/HostsDown'
import { IndicatorTile } from '../../ui/indicators/IndicatorTile'
import { bySeverity } from '../../ui/monitoring/display'
import { StateIcon } from '../../ui/state/StateIcon'
import { Duration, useNow } from '../../ui/state/Time'
import { useKeepAwake } from './keepAwake'
import { useText } from './text'
import './wall.css'

const SHOWN = 12

/** Tiles and failing monitors, big enough to be read from across the room. */
export function WallPage() {
  const t = useText()
  usePageTitle(t.title)
  useStream()
  useKeepAwake()
  const { data: tiles } = useQuery(tilesQuery)
  const { data: bad } = useQuery(monitorsQuery({ state: 'problems' }, 0, SHOWN))
  const { data: counts } = useQuery(countsQuery)
  useTitleAlarm(alarmCount(counts))
  // A wall is not scrolled: problems are above healthy objects.
  const isFirst = (tile: IndicatorLine) =>
    !bad?.rows.length || monitorLook(tile) !== 'ok' || tile.sticky
  const sorted = tiles?.rows.toSorted(bySeverity) ?? []
  const remaining = (tiles?.total ?? 0) - sorted.length
  return (
    <main className="wall" data-link={useConnectionState().link}>
      <Head />
      <HostsDown />
      <Tiles tiles={sorted.filter(isFirst)} label={t.indicators} />
      {bad?.rows.length ? (
        <section className="wall-bad" aria-label={t.problems}>
          {bad.rows.map((line) => (
            <Bad key={line.id} line={line} />
          ))}
          {(bad.total ?? 0) > SHOWN ? (
            <AppLink to="/monitors" search={{ state: 'problems' }} className="wall-more">
              {t.more((bad.total ?? 0) - SHOWN)}
            </AppLink>
          ) : null}
        </section>
      ) : counts && bad && !counts.hosts.down ? (
        <Well normal={counts.monitors.normal} />
      ) : null}
      <Tiles tiles={sorted.filter((tile) => !isFirst(tile))} label={t.wellTiles} />
      {remaining > 0 ? (
        <AppLink to="/indicators" className="wall-more">
          {t.moreTiles(remaining)}
        </AppLink>
      ) : null}
    </main>
  )
}

function Tiles({ tiles, label }: { tiles: IndicatorLine[]; label: string }) {
  if (tiles.length === 0) return null
  return (
    <section className="wall-tiles" aria-label={label}>
      {tiles.map((tile) => (
        <IndicatorTile key={tile.id} indicator={tile} big />
      ))}
    </section>
  )
}

function Head() {
  const t = useText()
  const now = useNow()
  const { link } = useConnectionState()
  const { current_customer: here } = useProfile()
  const { data: counts } = useQuery(countsQuery)
  const { toggle } = useFullscreenDocument()
  const hosts = counts?.hosts
  const parts = counts &&
    hosts && [
      counts.monitors.failure && t.failing(counts.monitors.failure),
      counts.monitors.updates_stopped && t.notReporting(counts.monitors.updates_stopped),
      counts.needs && t.pending(counts.needs),
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
        <ActionIcon size="lg" className="wall-act" component={AppLink} to="/" aria-label={t.leave}>
          <LayoutDashboard size={18} />
        </ActionIcon>
      </Group>
    </header>
  )
}

function Bad({ line }: { line: MonitorLine }) {
  const look = monitorLook(line)
  return (
    <article className="wall-monitor" data-look={look}>
      <StateIcon look={look} size={40} />
      <div className="clip">
        <div className="wall-name clip">{line.name}</div>
        <div className="wall-sub clip">
          {monitorStateText(line)} · <Duration from={line.state_since} />
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
      <div className="wall-big">{normal ? t.well : t.noMonitors}</div>
      {normal ? <div className="wall-sub">{t.wellOf(normal)}</div> : null}
    </section>
  )
}
