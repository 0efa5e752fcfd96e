export interface FieldChange {
  field: string
  before: string | null
  after: string | null
}

/** The fields that differ between two records of the audit, as text. */
export function changedFields(before: unknown, after: unknown): FieldChange[] {
  const was = fields(before)
  const is = fields(after)
  return [...new Set([...Object.keys(was), ...Object.keys(is)])]
    .filter((name) => valueText(was[name]) !== valueText(is[name]))
    .map((field) => ({ field, before: valueText(was[field]), after: valueText(is[field]) }))
}

function fields(record: unknown): Record<string, unknown> {
  if (record === null || record === undefined) return {}
  return typeof record === 'object' && !Array.isArray(record)
    ? (record as Record<string, unknown>)
    : { value: record }
}

function valueText(value: unknown): string | null {
  if (value === undefined || value === null) return null
  return typeof value === 'string' ? value : JSON.stringify(value)
}
