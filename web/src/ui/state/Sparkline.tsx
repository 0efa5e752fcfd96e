import { memo } from 'react'

interface Props {
  data: number[]
  width?: number
  height?: number
  color?: string
  label?: string
}

/** A small line of recent values: area, line, last point. */
export const Sparkline = memo(function Sparkline({
  data,
  width = 96,
  height = 26,
  color = 'var(--st-run)',
  label,
}: Props) {
  if (data.length < 2) return <svg width={width} height={height} aria-hidden="true" />
  const low = Math.min(...data)
  const range = Math.max(...data) - low || 1
  const points = data.map(
    (v, i) =>
      [
        1 + (i * (width - 5)) / (data.length - 1),
        height - 2 - ((v - low) / range) * (height - 5),
      ] as const,
  )
  const line = points.map(([x, y], i) => `${i ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}`).join('')
  const [x, y] = points[points.length - 1]!
  return (
    <svg
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      role={label ? 'img' : undefined}
      aria-label={label}
      aria-hidden={label ? undefined : true}
      style={{ display: 'block' }}
    >
      <path d={`${line}L${x} ${height}L1 ${height}Z`} fill={color} opacity=".1" />
      <path d={line} fill="none" stroke={color} strokeWidth="1.5" strokeLinejoin="round" />
      <circle cx={x} cy={y} r="2" fill={color} />
    </svg>
  )
})
