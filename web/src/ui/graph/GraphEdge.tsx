import { BaseEdge, type EdgeProps, getSmoothStepPath, Position } from '@xyflow/react'
import { HEIGHT, WIDTH } from './layout'

// How far it continues before it turns.
const OFFSET = 20

/** An edge with a limit. One that leads back passes next to the steps, not through them. */
export function LoopEdge({ id, label, style, markerEnd, ...ends }: EdgeProps) {
  const across = ends.sourcePosition === Position.Right
  const isBack = across ? ends.targetX <= ends.sourceX : ends.targetY <= ends.sourceY
  // In the space between two steps side by side; around one step alone, inside the others.
  const apart = ends.source === ends.target ? 7 : 14
  const beside = across
    ? { centerY: Math.max(ends.sourceY, ends.targetY) + HEIGHT / 2 + apart }
    : { centerX: Math.max(ends.sourceX, ends.targetX) + WIDTH / 2 + apart }
  const [path, labelX, labelY] = getSmoothStepPath({
    ...ends,
    ...(isBack ? beside : {}),
    offset: OFFSET,
  })
  // Vertically there is little space next to the steps: the label is below, where no step hides it.
  const below = isBack && !across ? { x: beside.centerX, y: ends.sourceY + OFFSET } : null
  return (
    <BaseEdge
      id={id}
      path={path}
      label={label}
      labelX={below?.x ?? labelX}
      labelY={below?.y ?? (isBack ? beside.centerY : labelY)}
      style={style}
      markerEnd={markerEnd}
    />
  )
}
