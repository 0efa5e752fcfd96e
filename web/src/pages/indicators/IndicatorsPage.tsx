import { ActionIcon, Badge, Button, Group, Paper, Text } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { ArrowDown, ArrowUp, Gauge, Pencil, Plus } from 'lucide-react'
import { api, ok } from '../../api/client'
import { type Indicator, indicatorsQuery } from '../../api/queries/monitoring/indicator'
import { useKeys } from '../../app/keys'
import { useCan } from '../../app/session'
import { useText as useAppText } from '../../app/text'
import { usePageTitle } from '../../app/title'
import { watchLook, watchWord } from '../../lib/state'
import { Go, useGo } from '../../ui/AppLink'
import { Empty } from '../../ui/layout/EmptyState'
import { Loaded } from '../../ui/layout/QueryResult'
import { Find, NoneFits, useSought } from '../../ui/list/SearchField'
import { brief } from '../../ui/monitoring/display'
import { StateIcon } from '../../ui/state/StateIcon'
import { Ago } from '../../ui/state/Time'
import { useWords } from '../../ui/text'
import { failed } from '../../ui/toast'
import { useText } from './text'
import './indicators.css'

export function IndicatorsPage() {
  const t = useText()
  usePageTitle(useAppText().indicators)
  const go = useGo()
  const may = useCan()('indicator.edit')
  const query = useQuery(indicatorsQuery)
  const { wanted, isIn } = useSought()
  const fits = (one: Indicator) => isIn([one.title, ...one.tags].join(' '))
  useKeys(may ? { c: () => go('/indicators/new') } : {})
  return (
    <Paper withBorder>
      <Loaded query={query}>
        {(found) =>
          found.length === 0 ? (
            <First may={may} />
          ) : (
            <>
              <Group className="head" gap={8}>
                <Find label={t.find} />
                <Text size="xs" c="dimmed" className="num" role="status">
                  {t.count(found.filter(fits).length)}
                </Text>
                {may ? <New /> : null}
              </Group>
              {found.some(fits) ? (
                <Rows rows={found.toSorted(byOrder)} may={may} fits={fits} isAll={!wanted} />
              ) : (
                <NoneFits />
              )}
            </>
          )
        }
      </Loaded>
    </Paper>
  )
}

function byOrder(a: Indicator, b: Indicator): number {
  return a.order - b.order || a.title.localeCompare(b.title)
}

function New() {
  const t = useText()
  return (
    <Button component={Go} to="/indicators/new" ml="auto" leftSection={<Plus size={14} />}>
      {t.new}
    </Button>
  )
}

function First({ may }: { may: boolean }) {
  const t = useText()
  return (
    <Empty icon={Gauge} title={may ? t.first : t.nobody}>
      <p>{t.firstBody}</p>
      {may ? <New /> : null}
    </Empty>
  )
}

interface RowsProps {
  /** In their order, also those that do not fit the filter: moving one numbers all. */
  rows: Indicator[]
  may: boolean
  fits: (one: Indicator) => boolean
  isAll: boolean
}

function Rows({ rows, may, fits, isAll }: RowsProps) {
  const client = useQueryClient()
  /** Numbers them by their new places; only those that move are written. */
  const move = async (from: number, to: number) => {
    const next = rows.toSpliced(from, 1).toSpliced(to, 0, rows[from]!)
    const moved = next
      .map((one, i) => ({ one, order: (i + 1) * 10 }))
      .filter(({ one, order }) => one.order !== order)
    client.setQueryData(
      indicatorsQuery.queryKey,
      next.map((one, i) => ({ ...one, order: (i + 1) * 10 })),
    )
    try {
      for (const { one, order } of moved)
        await ok(
          api.PATCH('/indicator/{id}', { params: { path: { id: one.id } }, body: { order } }),
        )
    } catch (fault) {
      failed(fault)
    }
    void client.invalidateQueries({ queryKey: ['indicator'] })
  }
  // Among a few of them nobody sees where one goes.
  const mayMove = may && isAll
  return rows.map((one, i) =>
    fits(one) ? (
      <Row
        key={one.id}
        one={one}
        onUp={mayMove && i > 0 ? () => void move(i, i - 1) : undefined}
        onDown={mayMove && i < rows.length - 1 ? () => void move(i, i + 1) : undefined}
        may={may}
      />
    ) : null,
  )
}

interface RowProps {
  one: Indicator
  may: boolean
  onUp?: () => void
  onDown?: () => void
}

function Row({ one, may, onUp, onDown }: RowProps) {
  const t = useText()
  const w = useWords()
  const value = one.type === 'progress' ? `${one.value} %` : brief(one)
  return (
    <div className="row ind-row">
      <StateIcon look={watchLook(one)} title={watchWord(one)} />
      <div className="clip ind-name">
        <Go to={`/indicators/${one.id}`} className="ind-link">
          {one.title}
        </Go>
        <Text size="xs" c="dimmed" className="clip" component="div">
          {t.kinds[one.type]} · {t.pushed} <Ago at={one.last_push} />
        </Text>
      </div>
      <Text fw={600} className="clip num ind-value">
        {value}
      </Text>
      <Group gap={6} className="ind-marks">
        {one.stale ? <Badge size="sm">{t.silent}</Badge> : null}
        {one.sticky ? <Badge size="sm">{t.sticky}</Badge> : null}
        {one.public ? <Badge size="sm">{t.isPublic}</Badge> : null}
      </Group>
      {may ? (
        <Group gap={2} wrap="nowrap" className="ind-acts">
          <ActionIcon aria-label={t.up(one.title)} disabled={!onUp} onClick={onUp}>
            <ArrowUp size={14} />
          </ActionIcon>
          <ActionIcon aria-label={t.down(one.title)} disabled={!onDown} onClick={onDown}>
            <ArrowDown size={14} />
          </ActionIcon>
          <ActionIcon
            component={Go}
            to={`/indicators/${one.id}/edit`}
            aria-label={`${w.edit}: ${one.title}`}
          >
            <Pencil size={14} />
          </ActionIcon>
        </Group>
      ) : null}
    </div>
  )
}
