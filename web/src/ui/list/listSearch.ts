/** Where the address of a list keeps what is looked for in it. */
export interface Sought {
  q?: string
}

export function sought({ q }: Record<string, unknown>): Sought {
  return q ? { q: String(q) } : {}
}
