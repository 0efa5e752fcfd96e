import { number } from '../../../lib/i18n'
import { COLORS } from '../seriesFormat'
import { useText } from '../text'
import type { Slice } from './figure'
import { arcOf, mergeSmall } from './pie'
import '../chart.css'

/** The shares of a sum, as high as the box around it. */
export function PieChart({ slices, title }: { slices: Slice[]; title: string }) {
  const t = useText()
  const parts = mergeSmall(slices, COLORS.length, t.otherSlices)
  const sum = parts.reduce((total, slice) => total + slice.value, 0)
  const texts = parts.map(
    ({ name, value }) => `${name} ${number(value, 2)} (${number((100 * value) / sum, 1)} %)`,
  )
  let start = 0
  return (
    <div className="value-chart">
      <ul className="chart-keys">
        {parts.map(({ name, value }, i) => (
          <li key={`${i} ${name}`}>
            <i className="chart-key" data-color={i} aria-hidden="true" />
            {name}
            <b className="num">{number(value, 2)}</b>
          </li>
        ))}
      </ul>
      <svg
        className="pie"
        viewBox="-1 -1 2 2"
        role="img"
        aria-label={`${title}: ${texts.join(', ')}`}
      >
        {parts.map(({ name, value }, i) => {
          const from = start
          start += value / sum
          return <path key={`${i} ${name}`} d={arcOf(from, start)} style={{ fill: COLORS[i] }} />
        })}
      </svg>
    </div>
  )
}
