import { useElementSize } from '@mantine/hooks'
import { useEffect, useRef } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { dateTime } from '../../lib/format'
import { prefs } from '../../lib/prefs'
import { useAppliedScheme } from './appliedScheme'
import type { Series } from './series'
import { COLORS, formatValue } from './seriesFormat'
import { metricName } from './text'

interface Props {
  series: Series
  from: number
  to: number
  height: number
  /** Called with the point under the pointer. */
  onPoint: (at: number | null) => void
}

/** uPlot in React: made once per look, fed with data in place. */
export function Plot({ series, from, to, height, onPoint }: Props) {
  const { ref: box, width } = useElementSize()
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | null>(null)
  const scheme = useAppliedScheme()
  const names = series.lines.map((line) => line.name).join('\n')
  const now = useRef({ series, from, to, onPoint })
  now.current = { series, from, to, onPoint }

  // biome-ignore lint/correctness/useExhaustiveDependencies: colours are read again with the scheme
  useEffect(() => {
    if (!place.current || width < 1) return
    const chart = new uPlot(
      optionsOf(names.split('\n'), Math.floor(width), height, () => now.current),
      dataOf(now.current.series),
      place.current,
    )
    plot.current = chart
    return () => {
      plot.current = null
      chart.destroy()
    }
  }, [names, width, height, scheme])

  // biome-ignore lint/correctness/useExhaustiveDependencies: the range moves the axis too
  useEffect(() => plot.current?.setData(dataOf(series)), [series, from, to])

  return (
    <div ref={box}>
      <div ref={place} />
    </div>
  )
}

function dataOf({ times, lines }: Series): uPlot.AlignedData {
  return [times, ...lines.map((line) => line.values)]
}

/** A canvas cannot resolve var(): the colour is read from the page. */
export function colour(value: string): string {
  const name = /var\((--[\w-]+)\)/.exec(value)?.[1]
  return name ? getComputedStyle(document.documentElement).getPropertyValue(name).trim() : value
}

function optionsOf(
  names: string[],
  width: number,
  height: number,
  now: () => Pick<Props, 'from' | 'to' | 'onPoint'>,
): uPlot.Options {
  const text = colour('var(--mantine-color-dimmed)')
  const grid = { stroke: colour('var(--line)'), width: 1 }
  const axis = { stroke: text, grid, ticks: grid, font: '11px Inter Variable, sans-serif' }
  const isPercent = names.every((name) => /^(cpu|mem|cache|disk )/.test(name))
  return {
    width,
    height,
    // Half of the last time label is beyond the last value.
    padding: [8, 28, 0, 0],
    // Times are shown in the reader's zone.
    tzDate: (at) => {
      const zone = prefs().zone
      return zone ? uPlot.tzDate(new Date(at * 1000), zone) : new Date(at * 1000)
    },
    legend: { show: false },
    cursor: { drag: { x: false, y: false } },
    hooks: { setCursor: [({ cursor }) => now().onPoint(cursor.idx ?? null)] },
    scales: {
      x: { time: true, range: () => [now().from, now().to] },
      y: isPercent ? { range: () => [0, 100] } : { range: (_u, low, high) => axisRange(low, high) },
    },
    axes: [
      {
        ...axis,
        size: 30,
        // "12:00 PM" and some air.
        space: 76,
        values: (_u, ticks, _i, _space, step) => ticks.map((at) => tickText(at, step)),
      },
      { ...axis, size: 56, values: (_u, ticks) => ticks.map((v) => formatValue(names[0]!, v)) },
    ],
    series: [
      {},
      ...names.map((name, i) => ({
        label: metricName(name),
        stroke: colour(COLORS[i % COLORS.length]!),
        width: 1.5,
        dash: i >= COLORS.length ? [4, 3] : undefined,
        spanGaps: false,
        points: { size: 4 },
        fill: names.length === 1 ? `${colour(COLORS[0]!)}1a` : undefined,
      })),
    ],
  }
}

/** The day where a day begins, otherwise the time of day. */
export function tickText(at: number, step: number): string {
  const isMidnight =
    dateTime(at * 1000, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }) === '00:00'
  return step >= 86_400 || isMidnight
    ? dateTime(at * 1000, { month: 'short', day: 'numeric' })
    : dateTime(at * 1000, { hour: '2-digit', minute: '2-digit' })
}

/** From zero where that is near, and with air above. */
export function axisRange(low: number | null, high: number | null): [number, number] {
  if (low === null || high === null) return [0, 1]
  return [Math.min(0, low), high === 0 ? 1 : high * 1.1]
}
