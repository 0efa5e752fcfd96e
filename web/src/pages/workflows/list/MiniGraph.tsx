import { useMemo } from 'react'
import type { Workflow } from '../../../api/queries/automation/workflow'
import { miniLayout, STEP } from './miniLayout'

const DOT = STEP / 2
const TALLEST = 3 * STEP

/** A small picture of a workflow. Screen readers read the number of steps. */
export function MiniGraph({ workflow }: { workflow: Workflow }) {
  const { start, graph } = workflow
  const { dots, lines, width, height, hidden } = useMemo(
    () => miniLayout({ start, nodes: graph.nodes ?? [], edges: graph.edges ?? [] }),
    [start, graph],
  )
  const scale = Math.min(1, TALLEST / height)
  return (
    <span className="flow-mini" aria-hidden="true">
      <svg
        aria-hidden="true"
        viewBox={`0 0 ${width} ${height}`}
        width={width * scale}
        height={height * scale}
      >
        {lines
          .map(([from, to]) => `M${from.x} ${from.y}L${to.x} ${to.y}`)
          .map((way) => (
            <path key={way} d={way} />
          ))}
        {dots.map(({ id, x, y }) => (
          <rect
            key={id}
            data-start={id === start}
            x={x - DOT / 2}
            y={y - DOT / 2}
            width={DOT}
            height={DOT}
            rx={1.5}
          />
        ))}
      </svg>
      {hidden > 0 ? `+${hidden}` : null}
    </span>
  )
}
