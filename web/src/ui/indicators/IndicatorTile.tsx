import { ActionIcon, Group, Menu, Paper, Progress, Text } from '@mantine/core'
import { Ellipsis, Minus, Pencil, Plus, RotateCcw, X } from 'lucide-react'
import { type CSSProperties, lazy, memo, Suspense } from 'react'
import type { IndicatorLine } from '../../api/queries/monitoring/indicator'
import { useCan } from '../../app/session'
import { number } from '../../lib/i18n'
import { monitorLook, monitorStateText } from '../../lib/state'
import { useAppNavigate } from '../AppLink'
import { isLarge, shortText, trendColor } from '../monitoring/display'
import { useMonitoringText } from '../monitoring/text'
import { Sparkline } from '../state/Sparkline'
import { StateIcon } from '../state/StateIcon'
import { Ago } from '../state/Time'
import { useTileActions } from './actions'
import './indicatorTile.css'

// Charts and frames are loaded with the first tile that has one.
const IndicatorFull = lazy(() =>
  import('./IndicatorFull').then((module) => ({ default: module.IndicatorFull })),
)

/** One indicator. Only a failing tile is tinted, to draw attention. */
export const IndicatorTile = memo(function IndicatorTile({
  indicator,
  big,
}: {
  indicator: IndicatorLine
  big?: boolean
}) {
  const look = monitorLook(indicator)
  const word = monitorStateText(indicator)
  return (
    <Paper
      withBorder
      p="sm"
      className={big ? 'tile tile-big' : 'tile'}
      data-look={look}
      data-large={isLarge(indicator) || undefined}
      component="article"
      aria-label={`${indicator.title}: ${shortText(indicator)}${indicator.type === 'progress' ? ' %' : ''}, ${word}`}
    >
      <Group gap={6} wrap="nowrap" justify="space-between">
        <Group gap={6} wrap="nowrap" miw={0}>
          <StateIcon look={look} size={big ? 22 : 14} title={word} />
          <Text size="xs" c="dimmed" className="clip tile-title" title={indicator.title}>
            {indicator.title}
          </Text>
        </Group>
        {big ? null : <TileMenu indicator={indicator} />}
      </Group>
      {isLarge(indicator) ? (
        <div className="tile-large">
          <Suspense>
            <IndicatorFull indicator={indicator} big={big} />
          </Suspense>
        </div>
      ) : (
        <Value indicator={indicator} />
      )}
      <Text size="xs" c="dimmed" mt={6} className="clip tile-sub">
        <Sub indicator={indicator} />
      </Text>
    </Paper>
  )
})

/** How many signs must fit into the tile, where its size follows the screen's. */
const wide = (text: string) => ({ '--signs': text.length }) as CSSProperties

function Value({ indicator }: { indicator: IndicatorLine }) {
  const look = monitorLook(indicator)
  const value = number(Number(indicator.value), 2)
  const share = number(Number(indicator.value), 1)
  if (indicator.type === 'progress')
    return (
      <>
        <Text className="tile-value num" style={wide(`${share}%`)} mt={6}>
          {share}
          <span className="tile-unit">%</span>
        </Text>
        <Progress
          value={Math.min(100, Math.max(0, Number(indicator.value)))}
          size={6}
          radius="xl"
          mt={4}
          color={`var(--st-${look})`}
          aria-label={indicator.title}
        />
      </>
    )
  if (indicator.type !== 'counter')
    return (
      <Text className="tile-text" mt={8} title={String(indicator.value)}>
        {String(indicator.value) || '—'}
      </Text>
    )
  return (
    <Group justify="space-between" align="flex-end" mt={6} wrap="nowrap">
      <Text className="tile-value num" style={wide(value)} title={value}>
        {value}
      </Text>
      {indicator.spark.length > 1 ? (
        <span className="tile-spark">
          <Sparkline data={indicator.spark} width={72} height={24} color={trendColor(look)} />
        </span>
      ) : null}
    </Group>
  )
}

/** The text below the value: its change, and its description or the time of the last push. */
function Sub({ indicator }: { indicator: IndicatorLine }) {
  const w = useMonitoringText()
  const change =
    indicator.type === 'counter' && indicator.spark.length > 1
      ? indicator.spark.at(-1)! - indicator.spark[0]!
      : 0
  const delta = change ? (
    <b className="tile-delta num">{`${change > 0 ? '+' : ''}${number(change, 2)}`}</b>
  ) : null
  if (indicator.stale)
    return (
      <>
        {delta}
        {w.stale} · <Ago at={indicator.last_push} />
      </>
    )
  if (indicator.description || indicator.state === 'normal')
    return (
      <>
        {delta}
        {indicator.description || <Ago at={indicator.last_push} />}
      </>
    )
  return (
    <>
      {delta}
      {indicator.severity === 'LOW' ? w.lowSeverity : w.highSeverity}
    </>
  )
}

function TileMenu({ indicator }: { indicator: IndicatorLine }) {
  const w = useMonitoringText()
  const may = useCan()
  const go = useAppNavigate()
  const actions = useTileActions(indicator)
  const counts = indicator.type === 'counter' && may('indicator.count')
  if (!counts && !indicator.may_dismiss && !may('indicator.edit')) return null
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon size="sm" className="tile-menu" aria-label={w.actionsFor(indicator.title)}>
          <Ellipsis size={14} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {counts ? (
          <>
            <Menu.Item leftSection={<Plus size={14} />} onClick={() => actions.count('increase')}>
              {w.increase}
            </Menu.Item>
            <Menu.Item leftSection={<Minus size={14} />} onClick={() => actions.count('decrease')}>
              {w.decrease}
            </Menu.Item>
            <Menu.Item
              leftSection={<RotateCcw size={14} />}
              onClick={() => actions.count('restart')}
            >
              {w.restart}
            </Menu.Item>
          </>
        ) : null}
        {may('indicator.edit') ? (
          <Menu.Item
            leftSection={<Pencil size={14} />}
            onClick={() => go(`/indicators/${indicator.id}/edit`)}
          >
            {w.edit}
          </Menu.Item>
        ) : null}
        {indicator.may_dismiss ? (
          <Menu.Item leftSection={<X size={14} />} onClick={actions.dismiss}>
            {w.dismiss}
          </Menu.Item>
        ) : null}
      </Menu.Dropdown>
    </Menu>
  )
}
