/** A value of an argument or an output as text: a stored file by its name, other types as JSON. */
export function valueText(value: unknown): string {
  if (typeof value === 'string') return value
  const { blob, filename } = (value ?? {}) as { blob?: unknown; filename?: unknown }
  if (typeof blob === 'string' && typeof filename === 'string') return filename
  return value === undefined ? '' : JSON.stringify(value)
}

/** Text that is JSON, laid out; any other as it is. */
export function valueBlock(text: string): string {
  if (!/^\s*[[{]/.test(text)) return text
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
