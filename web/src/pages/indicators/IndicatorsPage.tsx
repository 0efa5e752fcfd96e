import { ActionIcon, Badge, Button, Group, Paper, Text } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { ArrowDown, ArrowUp, Gauge, Pencil, Plus } from 'lucide-react'
import { api, ok } from '../../api/client'
import { type Indicator, indicatorsQuery } from '../../api/queries/monitoring/indicator'
import { useKeys } from '../../app/keys'
import { useNavTitles } from '../../app/pages'
import { useCan } from '../../app/session'
import { usePageTitle } from '../../app/title'
import { monitorLook, monitorStateText } from '../../lib/state'
import { AppLink, useAppNavigate } from '../../ui/AppLink'
import { EmptyState } from '../../ui/layout/EmptyState'
import { QueryResult } from '../../ui/layout/QueryResult'
import { NoMatches, SearchField, useListSearch } from '../../ui/list/SearchField'
import { shortText } from '../../ui/monitoring/display'
import { StateIcon } from '../../ui/state/StateIcon'
import { Ago } from '../../ui/state/Time'
import { useWords } from '../../ui/text'
import { showError } from '../../ui/toast'
import { useText } from './text'
import './indicators.css'

export function IndicatorsPage() {
  const t = useText()
  usePageTitle(useNavTitles().indicators)
  const go = useAppNavigate()
  const may = useCan()('indicator.edit')
  const query = useQuery(indicatorsQuery)
  const { filterText, isIn } = useListSearch()
  const fits = (indicator: Indicator) => isIn([indicator.title, ...indicator.tags].join(' '))
  useKeys(may ? { c: () => go('/indicators/new') } : {})
  return (
    <Paper withBorder>
      <QueryResult query={query}>
        {(indicators) =>
          indicators.length === 0 ? (
            <First may={may} />
          ) : (
            <>
              <Group className="head" gap={8}>
                <SearchField label={t.find} />
                <Text size="xs" c="dimmed" className="num" role="status">
                  {t.count(indicators.filter(fits).length)}
                </Text>
                {may ? <New /> : null}
              </Group>
              {indicators.some(fits) ? (
                <Rows
                  rows={indicators.toSorted(byOrder)}
                  may={may}
                  fits={fits}
                  isAll={!filterText}
                />
              ) : (
                <NoMatches />
              )}
            </>
          )
        }
      </QueryResult>
    </Paper>
  )
}

function byOrder(a: Indicator, b: Indicator): number {
  return a.order - b.order || a.title.localeCompare(b.title)
}

function New() {
  const t = useText()
  return (
    <Button component={AppLink} to="/indicators/new" ml="auto" leftSection={<Plus size={14} />}>
      {t.new}
    </Button>
  )
}

function First({ may }: { may: boolean }) {
  const t = useText()
  return (
    <EmptyState icon={Gauge} title={may ? t.first : t.noneVisible}>
      <p>{t.firstBody}</p>
      {may ? <New /> : null}
    </EmptyState>
  )
}

interface RowsProps {
  /** In their order, also those that do not fit the filter: moving one numbers all. */
  rows: Indicator[]
  may: boolean
  fits: (indicator: Indicator) => boolean
  isAll: boolean
}

function Rows({ rows, may, fits, isAll }: RowsProps) {
  const client = useQueryClient()
  /** Numbers them by their new places; only those that move are written. */
  const move = async (from: number, to: number) => {
    const next = rows.toSpliced(from, 1).toSpliced(to, 0, rows[from]!)
    const moved = next
      .map((indicator, i) => ({ indicator, order: (i + 1) * 10 }))
      .filter(({ indicator, order }) => indicator.order !== order)
    client.setQueryData(
      indicatorsQuery.queryKey,
      next.map((indicator, i) => ({ ...indicator, order: (i + 1) * 10 })),
    )
    try {
      for (const { indicator, order } of moved)
        await ok(
          api.PATCH('/indicator/{id}', { params: { path: { id: indicator.id } }, body: { order } }),
        )
    } catch (fault) {
      showError(fault)
    }
    void client.invalidateQueries({ queryKey: ['indicator'] })
  }
  // In a filtered list it is not visible where a tile would move.
  const mayMove = may && isAll
  return rows.map((indicator, i) =>
    fits(indicator) ? (
      <Row
        key={indicator.id}
        indicator={indicator}
        onUp={mayMove && i > 0 ? () => void move(i, i - 1) : undefined}
        onDown={mayMove && i < rows.length - 1 ? () => void move(i, i + 1) : undefined}
        may={may}
      />
    ) : null,
  )
}

interface RowProps {
  indicator: Indicator
  may: boolean
  onUp?: () => void
  onDown?: () => void
}

function Row({ indicator, may, onUp, onDown }: RowProps) {
  const t = useText()
  const w = useWords()
  const value = `${shortText(indicator)}${indicator.type === 'progress' ? ' %' : ''}`
  return (
    <div className="row ind-row">
      <StateIcon look={monitorLook(indicator)} title={monitorStateText(indicator)} />
      <div className="clip ind-name">
        <AppLink to={`/indicators/${indicator.id}`} className="ind-link">
          {indicator.title}
        </AppLink>
        <Text size="xs" c="dimmed" className="clip" component="div">
          {t.kinds[indicator.type]} · {t.pushed} <Ago at={indicator.last_push} />
        </Text>
      </div>
      <Text fw={600} className="clip num ind-value">
        {value}
      </Text>
      <Group gap={6} className="ind-marks">
        {indicator.stale ? <Badge size="sm">{t.stale}</Badge> : null}
        {indicator.sticky ? <Badge size="sm">{t.sticky}</Badge> : null}
        {indicator.public ? <Badge size="sm">{t.isPublic}</Badge> : null}
      </Group>
      {may ? (
        <Group gap={2} wrap="nowrap" className="ind-acts">
          <ActionIcon aria-label={t.up(indicator.title)} disabled={!onUp} onClick={onUp}>
            <ArrowUp size={14} />
          </ActionIcon>
          <ActionIcon aria-label={t.down(indicator.title)} disabled={!onDown} onClick={onDown}>
            <ArrowDown size={14} />
          </ActionIcon>
          <ActionIcon
            component={AppLink}
            to={`/indicators/${indicator.id}/edit`}
            aria-label={`${w.edit}: ${indicator.title}`}
          >
            <Pencil size={14} />
          </ActionIcon>
        </Group>
      ) : null}
    </div>
  )
}
