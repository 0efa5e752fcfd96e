/** The search parameters of an address, before a route has checked them. */
export type RawSearch = Record<string, unknown>

/** A parameter that must be a non-empty text. */
export function textParam(value: unknown): string | undefined {
  return typeof value === 'string' && value ? value : undefined
}
