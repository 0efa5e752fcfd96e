import { Text } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { useEffect, useMemo, useRef, useState } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import type { Chart } from '../../api/queries/monitoring/indicator'
import { number } from '../../lib/i18n'
import { useAppliedScheme } from './appliedScheme'
import { type Columns, columnsOf, placeName } from './columns'
import { axisRange, colour, tickText } from './Plot'
import { COLORS } from './seriesFormat'
import { useText } from './text'
import './chart.css'

/** A pushed chart, as high as the box around it. */
export function ValueChart({ chart, title }: { chart: Chart; title: string }) {
  const t = useText()
  const columns = useMemo(() => columnsOf(chart), [chart])
  const [at, setAt] = useState<number | null>(null)
  if (columns.x.length === 0)
    return (
      <Text size="sm" c="dimmed">
        {t.noNumbers}
      </Text>
    )
  const row = at === null ? chart.series[0]!.values.length - 1 : (columns.rows[at] ?? 0)
  const words = chart.series.map(
    (series) => `${series.name} ${valueText(series.values[row] ?? null, chart.unit)}`,
  )
  return (
    <div className="value-chart">
      <ul className="chart-keys">
        {chart.series.map((series, i) => (
          <li key={`${i} ${series.name}`}>
            <i className="chart-key" data-color={i % COLORS.length} aria-hidden="true" />
            {series.name}
            <b className="num">{valueText(series.values[row] ?? null, chart.unit)}</b>
          </li>
        ))}
        {at === null ? null : <li className="num">{placeName(chart, row)}</li>}
      </ul>
      <Plot
        columns={columns}
        chart={chart}
        label={`${title}: ${words.join(', ')}`}
        onPoint={setAt}
      />
    </div>
  )
}

function valueText(value: number | null, unit: string): string {
  if (value === null) return '—'
  return unit ? `${number(value, 2)} ${unit}` : number(value, 2)
}

interface Drawing {
  columns: Columns
  chart: Chart
  label: string
  onPoint: (at: number | null) => void
}

function Plot({ columns, chart, label, onPoint }: Drawing) {
  const { ref: box, width, height } = useElementSize()
  const place = useRef<HTMLDivElement>(null)
  const scheme = useAppliedScheme()
  // biome-ignore lint/correctness/useExhaustiveDependencies: colours are read again with the scheme
  useEffect(() => {
    if (!place.current || width < 1 || height < 1) return
    const options = optionsOf(columns, chart, Math.floor(width), Math.floor(height), onPoint)
    const plot = new uPlot(options, [columns.x, ...columns.lines], place.current)
    return () => plot.destroy()
  }, [columns, chart, width, height, scheme])
  return (
    <div ref={box} className="value-chart-box" role="img" aria-label={label}>
      <div ref={place} />
    </div>
  )
}

function optionsOf(
  { x, isTime }: Columns,
  chart: Chart,
  width: number,
  height: number,
  onPoint: (at: number | null) => void,
): uPlot.Options {
  const isBar = chart.kind === 'bar'
  const grid = { stroke: colour('var(--line)'), width: 1 }
  const axis = {
    stroke: colour('var(--mantine-color-dimmed)'),
    grid,
    ticks: grid,
    font: '11px Inter Variable, sans-serif',
  }
  const step = x.length > 1 ? (x.at(-1)! - x[0]!) / (x.length - 1) : 1
  const edge = isBar || x.length === 1 ? step / 2 : 0
  const bars = isBar ? { paths: uPlot.paths.bars!({ size: [0.85, 60] }) } : {}
  return {
    width,
    height,
    // Half of the last label is beyond the last value.
    padding: [6, 28, 0, 0],
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, points: { show: !isBar } },
    hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)] },
    scales: {
      x: { time: isTime, range: () => [x[0]! - edge, x.at(-1)! + edge] },
      y: { range: (_u, low, high) => axisRange(low, high) },
    },
    axes: [
      {
        ...axis,
        size: 24,
        space: isTime ? 76 : 50,
        ...(isTime ? {} : { incrs: [1, 2, 5, 10, 20, 50, 100, 200] }),
        values: (_u, ticks, _i, _space, gap) =>
          ticks.map((tick) => (isTime ? tickText(tick, gap) : placeName(chart, tick))),
      },
      { ...axis, size: 46, values: (_u, ticks) => ticks.map((tick) => number(tick, 2)) },
    ],
    series: [
      {},
      ...chart.series.map((series, i) => ({
        label: series.name,
        stroke: colour(COLORS[i % COLORS.length]!),
        width: isBar ? 0 : 1.5,
        dash: i >= COLORS.length ? [4, 3] : undefined,
        spanGaps: false,
        points: { size: 4, show: !isBar && x.length < 60 },
        fill: isBar
          ? colour(COLORS[i % COLORS.length]!)
          : chart.series.length === 1
            ? `${colour(COLORS[0]!)}1a`
            : undefined,
        ...bars,
      })),
    ],
  }
}
