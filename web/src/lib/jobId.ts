/** Digits that name a job to people: the last ones of its id, because the first are a time. */
export const SHORT_ID_LENGTH = 6

export function shortId(id: string): string {
  return `#${id.slice(-SHORT_ID_LENGTH)}`
}

const SHORT_ID = /^#?([0-9a-f]{6})$/i

/** The digits of a short id, with or without the sign; null: it is something else. */
export function shortIdIn(text: string): string | null {
  return SHORT_ID.exec(text.trim())?.[1]?.toLowerCase() ?? null
}
