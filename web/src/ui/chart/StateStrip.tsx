import { memo } from 'react'
import type { Shape } from '../../api/client'
import { dateTime } from '../../lib/format'
import { cellsOf } from './series'
import { useText } from './text'
import './chart.css'

interface Props {
  points: Shape<'HistoryPoint'>[]
  from: number
  to: number
  count?: number
}

/** How the checks of a time range went; full, short, split and dotted bars, as in a beats strip. */
export const StateStrip = memo(function StateStrip({ points, from, to, count = 96 }: Props) {
  const t = useText()
  const cells = cellsOf(points, from, to, count)
  const [checks, good] = cells.reduce(
    ([all, fine], cell) => [all + cell.checks, fine + cell.good],
    [0, 0],
  )
  return (
    <div>
      <div
        className="strip"
        role="img"
        aria-label={`${t.strip}: ${checks ? t.checks(Math.round(good), checks) : t.noChecks}`}
      >
        {cells.map((cell) => (
          <span
            key={cell.from}
            data-look={cell.look}
            title={`${dateTime(cell.from, SHORT)} – ${dateTime(cell.to, SHORT)}: ${
              cell.checks ? t.checks(Math.round(cell.good), cell.checks) : t.noChecks
            }`}
          />
        ))}
      </div>
      <div className="strip-ends">
        <span>{dateTime(from, SHORT)}</span>
        <span>{dateTime(to, SHORT)}</span>
      </div>
    </div>
  )
})

const SHORT = { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' } as const
