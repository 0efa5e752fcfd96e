import { memo } from 'react'
import type { Look } from '../../lib/state'

const WIDTH = 4
const STEP = 6
const HEIGHT = 22

/** The last checks or runs, oldest first. The shape says the state even in grey print: full bar,
 * short bar, split bar, dot. */
export const CheckStrip = memo(function CheckStrip({
  data,
  label,
}: {
  data: Look[]
  label: string
}) {
  return (
    <svg
      width={data.length * STEP}
      height={HEIGHT}
      role="img"
      aria-label={label}
      style={{ display: 'block', maxWidth: '100%' }}
    >
      {data.map((look, i) => (
        <CheckMark key={i} look={look} x={i * STEP} />
      ))}
    </svg>
  )
})

function CheckMark({ look, x }: { look: Look; x: number }) {
  const bar = (y: number, height: number) => (
    <rect x={x} y={y} width={WIDTH} height={height} rx="1.5" />
  )
  const fill = `var(--st-${look})`
  if (look === 'fail' || look === 'lost')
    return (
      <g fill={fill}>
        {bar(1, 8.5)}
        {bar(12.5, 8.5)}
      </g>
    )
  if (look === 'ok')
    return (
      <g fill={fill} opacity=".85">
        {bar(4, HEIGHT - 8)}
      </g>
    )
  if (look === 'warn' || look === 'run' || look === 'wait')
    return <g fill={fill}>{bar(8, HEIGHT - 12)}</g>
  return (
    <g fill={fill} opacity=".7">
      {bar(HEIGHT / 2 - 1.5, 3)}
    </g>
  )
}
