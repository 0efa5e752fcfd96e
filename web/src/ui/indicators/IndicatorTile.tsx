import { ActionIcon, Group, Menu, Paper, Progress, Text } from '@mantine/core'
import { Ellipsis, Minus, Pencil, Plus, RotateCcw, X } from 'lucide-react'
import { type CSSProperties, lazy, memo, Suspense } from 'react'
import type { IndicatorLine } from '../../api/queries/monitoring/indicator'
import { useCan } from '../../app/session'
import { number } from '../../lib/i18n'
import { watchLook, watchWord } from '../../lib/state'
import { useGo } from '../AppLink'
import { brief, isLarge, trendColor } from '../monitoring/display'
import { useWatchWords } from '../monitoring/text'
import { Spark } from '../state/Sparkline'
import { StateIcon } from '../state/StateIcon'
import { Ago } from '../state/Time'
import { useTileActs } from './actions'
import './indicatorTile.css'

// Charts and frames come with the first tile that has one.
const Large = lazy(() => import('./IndicatorFull').then((found) => ({ default: found.Large })))

/** One indicator. Only a failing tile is tinted: the eye goes there. */
export const Tile = memo(function Tile({ one, big }: { one: IndicatorLine; big?: boolean }) {
  const look = watchLook(one)
  const word = watchWord(one)
  return (
    <Paper
      withBorder
      p="sm"
      className={big ? 'tile tile-big' : 'tile'}
      data-look={look}
      data-large={isLarge(one) || undefined}
      component="article"
      aria-label={`${one.title}: ${brief(one)}${one.type === 'progress' ? ' %' : ''}, ${word}`}
    >
      <Group gap={6} wrap="nowrap" justify="space-between">
        <Group gap={6} wrap="nowrap" miw={0}>
          <StateIcon look={look} size={big ? 22 : 14} title={word} />
          <Text size="xs" c="dimmed" className="clip tile-title" title={one.title}>
            {one.title}
          </Text>
        </Group>
        {big ? null : <TileMenu one={one} />}
      </Group>
      {isLarge(one) ? (
        <div className="tile-large">
          <Suspense>
            <Large one={one} big={big} />
          </Suspense>
        </div>
      ) : (
        <Value one={one} />
      )}
      <Text size="xs" c="dimmed" mt={6} className="clip tile-sub">
        <Sub one={one} />
      </Text>
    </Paper>
  )
})

/** How many signs must fit into the tile, where its size follows the screen's. */
const wide = (text: string) => ({ '--signs': text.length }) as CSSProperties

function Value({ one }: { one: IndicatorLine }) {
  const look = watchLook(one)
  const value = number(Number(one.value), 2)
  const share = number(Number(one.value), 1)
  if (one.type === 'progress')
    return (
      <>
        <Text className="tile-value num" style={wide(`${share}%`)} mt={6}>
          {share}
          <span className="tile-unit">%</span>
        </Text>
        <Progress
          value={Math.min(100, Math.max(0, Number(one.value)))}
          size={6}
          radius="xl"
          mt={4}
          color={`var(--st-${look})`}
          aria-label={one.title}
        />
      </>
    )
  if (one.type !== 'counter')
    return (
      <Text className="tile-text" mt={8} title={String(one.value)}>
        {String(one.value) || '—'}
      </Text>
    )
  return (
    <Group justify="space-between" align="flex-end" mt={6} wrap="nowrap">
      <Text className="tile-value num" style={wide(value)} title={value}>
        {value}
      </Text>
      {one.spark.length > 1 ? (
        <span className="tile-spark">
          <Spark data={one.spark} width={72} height={24} color={trendColor(look)} />
        </span>
      ) : null}
    </Group>
  )
}

/** What stands under the value: its change, and what it is about or when it was said. */
function Sub({ one }: { one: IndicatorLine }) {
  const w = useWatchWords()
  const change =
    one.type === 'counter' && one.spark.length > 1 ? one.spark.at(-1)! - one.spark[0]! : 0
  const delta = change ? (
    <b className="tile-delta num">{`${change > 0 ? '+' : ''}${number(change, 2)}`}</b>
  ) : null
  if (one.stale)
    return (
      <>
        {delta}
        {w.silent} · <Ago at={one.last_push} />
      </>
    )
  if (one.description || one.state === 'normal')
    return (
      <>
        {delta}
        {one.description || <Ago at={one.last_push} />}
      </>
    )
  return (
    <>
      {delta}
      {one.severity === 'LOW' ? w.lowSeverity : w.highSeverity}
    </>
  )
}

function TileMenu({ one }: { one: IndicatorLine }) {
  const w = useWatchWords()
  const may = useCan()
  const go = useGo()
  const acts = useTileActs(one)
  const counts = one.type === 'counter' && may('indicator.count')
  if (!counts && !one.may_dismiss && !may('indicator.edit')) return null
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon size="sm" className="tile-menu" aria-label={w.actionsFor(one.title)}>
          <Ellipsis size={14} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {counts ? (
          <>
            <Menu.Item leftSection={<Plus size={14} />} onClick={() => acts.count('increase')}>
              {w.increase}
            </Menu.Item>
            <Menu.Item leftSection={<Minus size={14} />} onClick={() => acts.count('decrease')}>
              {w.decrease}
            </Menu.Item>
            <Menu.Item leftSection={<RotateCcw size={14} />} onClick={() => acts.count('restart')}>
              {w.restart}
            </Menu.Item>
          </>
        ) : null}
        {may('indicator.edit') ? (
          <Menu.Item
            leftSection={<Pencil size={14} />}
            onClick={() => go(`/indicators/${one.id}/edit`)}
          >
            {w.edit}
          </Menu.Item>
        ) : null}
        {one.may_dismiss ? (
          <Menu.Item leftSection={<X size={14} />} onClick={acts.dismiss}>
            {w.dismiss}
          </Menu.Item>
        ) : null}
      </Menu.Dropdown>
    </Menu>
  )
}
