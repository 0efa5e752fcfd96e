import type { Slice } from './figure'

/** The largest slices in their order; the sum of all others is the last. */
export function mergeSmall(slices: Slice[], count: number, others: string): Slice[] {
  const visible = slices.filter((slice) => slice.value > 0)
  if (visible.length <= count) return visible
  const largest = new Set([...visible].sort((a, b) => b.value - a.value).slice(0, count - 1))
  const rest = visible.filter((slice) => !largest.has(slice))
  const value = rest.reduce((sum, slice) => sum + slice.value, 0)
  return [...visible.filter((slice) => largest.has(slice)), { name: others, value }]
}

/** The path of a slice of a circle with the radius 1; from the top, clockwise, as fractions. */
export function arcOf(from: number, to: number): string {
  // An arc that ends where it starts is not drawn.
  const end = to - from >= 1 ? from + 0.99999 : to
  const large = end - from > 0.5 ? 1 : 0
  return `M0 0L${point(from)}A1 1 0 ${large} 1 ${point(end)}Z`
}

function point(part: number): string {
  const angle = 2 * Math.PI * part
  return `${round(Math.sin(angle))} ${round(-Math.cos(angle))}`
}

const round = (value: number) => Math.round(value * 1e5) / 1e5
