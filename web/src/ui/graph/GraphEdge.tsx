import { BaseEdge, type EdgeProps, getSmoothStepPath, Position } from '@xyflow/react'
import { HEIGHT, WIDTH } from './layout'

// How far it goes on before it turns.
const OFFSET = 20

/** An edge with a bound. One that leads back passes beside the steps, not through them. */
export function LoopEdge({ id, label, style, markerEnd, ...ends }: EdgeProps) {
  const across = ends.sourcePosition === Position.Right
  const isBack = across ? ends.targetX <= ends.sourceX : ends.targetY <= ends.sourceY
  // In the room between two steps side by side; round one step alone inside of the others.
  const apart = ends.source === ends.target ? 7 : 14
  const beside = across
    ? { centerY: Math.max(ends.sourceY, ends.targetY) + HEIGHT / 2 + apart }
    : { centerX: Math.max(ends.sourceX, ends.targetX) + WIDTH / 2 + apart }
  const [path, labelX, labelY] = getSmoothStepPath({
    ...ends,
    ...(isBack ? beside : {}),
    offset: OFFSET,
  })
  // Downwards there is little room beside the steps: the label is below, where no step hides it.
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
