/** The parameter of the address for the search text of a list. */
export interface ListSearch {
  q?: string
}

export function validListSearch({ q }: Record<string, unknown>): ListSearch {
  return q ? { q: String(q) } : {}
}
