/** Where the address of a list keeps what is looked for in it. */
export interface ListSearch {
  q?: string
}

export function validListSearch({ q }: Record<string, unknown>): ListSearch {
  return q ? { q: String(q) } : {}
}
