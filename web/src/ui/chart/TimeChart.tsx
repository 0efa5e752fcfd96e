import { Box, ScrollArea, SegmentedControl, Table, Text } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import { dateTime } from '../../lib/format'
import type { Line, Series } from './series'
import { COLORS, formatValue } from './seriesFormat'
import { metricName, useText } from './text'
import './chart.css'

const Plot = lazy(() => import('./Plot').then((module) => ({ default: module.Plot })))
const ROWS = 200

interface Props {
  series: Series
  /** Seconds: what the time axis shows. */
  from: number
  to: number
  height?: number
}

/** Values over time, as a chart and, with the same values, as a table. */
export function TimeChart({ series, from, to, height = 240 }: Props) {
  const t = useText()
  const [as, setAs] = useState('chart')
  /** The place under the pointer. */
  const [at, setAt] = useState<number | null>(null)
  if (series.lines.length === 0)
    return (
      <Text size="sm" c="dimmed" p="md">
        {t.noPoints}
      </Text>
    )
  return (
    <Box className="chart">
      <div className="chart-top">
        <ul className="chart-keys">
          {series.lines.map((line, i) => (
            <li key={line.name}>
              <i className="chart-key" data-color={i % COLORS.length} aria-hidden="true" />
              {metricName(line.name)}
              <b className="num">{at === null ? null : valueAt(line, at)}</b>
            </li>
          ))}
          {at === null ? null : <li className="num">{dateTime(series.times[at]! * 1000)}</li>}
        </ul>
        <SegmentedControl
          size="xs"
          flex="none"
          aria-label={t.showAs}
          value={as}
          onChange={setAs}
          data={[
            { value: 'chart', label: t.chart },
            { value: 'table', label: t.table },
          ]}
        />
      </div>
      {as === 'table' ? (
        <Values series={series} />
      ) : (
        <div
          role="img"
          aria-label={series.lines.map(summary).join('; ')}
          style={{ minHeight: height }}
        >
          <Suspense>
            <Plot series={series} from={from} to={to} height={height} onPoint={setAt} />
          </Suspense>
        </div>
      )}
    </Box>
  )
}

function valueAt(line: Line, at: number): string {
  const value = line.values[at]
  return value == null ? '—' : formatValue(line.name, value)
}

function summary(line: Line): string {
  const values = line.values.filter((value): value is number => value !== null)
  const t = useText.now()
  if (values.length === 0) return `${metricName(line.name)}: ${t.noPoints}`
  const [low, high, last] = [Math.min(...values), Math.max(...values), values.at(-1)!]
  return t.summary(
    metricName(line.name),
    formatValue(line.name, low),
    formatValue(line.name, high),
    formatValue(line.name, last),
  )
}

function Values({ series }: { series: Series }) {
  const t = useText()
  const places = series.times.map((_, i) => i).filter((i) => has(series, i))
  const last = places.slice(-ROWS).toReversed()
  return (
    <ScrollArea.Autosize mah={320} viewportProps={{ tabIndex: 0 }}>
      <Table stickyHeader fz="xs" verticalSpacing={4}>
        <Table.Caption>{t.rows(last.length, places.length)}</Table.Caption>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t.time}</Table.Th>
            {series.lines.map((line) => (
              <Table.Th key={line.name}>{metricName(line.name)}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody className="num">
          {last.map((i) => (
            <Table.Tr key={i}>
              <Table.Td>{dateTime(series.times[i]! * 1000)}</Table.Td>
              {series.lines.map((line) => (
                <Table.Td key={line.name}>
                  {line.values[i] == null ? '—' : formatValue(line.name, line.values[i])}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollArea.Autosize>
  )
}

function has(series: Series, i: number): boolean {
  return series.lines.some((line) => line.values[i] !== null)
}
