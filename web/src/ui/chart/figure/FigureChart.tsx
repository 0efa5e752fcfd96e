import { Table, Text } from '@mantine/core'
import { useMemo } from 'react'
import { useText } from '../text'
import { ValueChart } from '../ValueChart'
import { figureOf } from './figure'
import { tableOf } from './figureTable'
import { PieChart } from './PieChart'
import '../chart.css'

/** The value of a chart indicator: drawn if the console can, else a table of its values. */
export function FigureChart({ value, title }: { value: unknown; title: string }) {
  const figure = useMemo(() => figureOf(value), [value])
  if (figure.kind === 'chart') return <ValueChart chart={figure.chart} title={title} />
  if (figure.kind === 'pie') return <PieChart slices={figure.slices} title={title} />
  return <ValueTable value={value} title={title} />
}

function ValueTable({ value, title }: { value: unknown; title: string }) {
  const t = useText()
  const { head, rows, count } = useMemo(() => tableOf(value), [value])
  if (rows.length === 0)
    return (
      <Text size="sm" c="dimmed">
        {t.noNumbers}
      </Text>
    )
  return (
    <section className="figure-table" aria-label={title} tabIndex={0}>
      <Table data={{ head, body: rows }} fz="xs" verticalSpacing={2} stickyHeader />
      {rows.length < count ? (
        <Text size="xs" c="dimmed">
          {t.firstRows(rows.length, count)}
        </Text>
      ) : null}
    </section>
  )
}
