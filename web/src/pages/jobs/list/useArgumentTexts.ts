import { useEffect, useState } from 'react'
import { api, ok, type Shape } from '../../../api/client'
import type { Job } from '../../../api/queries/job'

type Values = Shape<'JobArguments'>

const PAUSE_MS = 120
const AT_ONCE = 100

/** The arguments of the visible rows. They are read apart from the rows, once each: most rows of
 * a long list are never looked at. */
export function useArgumentTexts(rows: Job[]): Map<string, Values> {
  const [values, setValues] = useState<Map<string, Values>>(new Map())
  const missing = rows.filter((row) => row.task_id && !values.has(row.id)).map((row) => row.id)
  const ids = missing.slice(0, AT_ONCE).join(',')
  useEffect(() => {
    if (!ids) return
    const stop = new AbortController()
    const timer = setTimeout(async () => {
      const params = { query: { ids } }
      const records = await ok(api.GET('/job/arguments', { params, signal: stop.signal })).catch(
        () => null,
      )
      if (records) setValues((old) => withRecords(old, ids.split(','), records))
    }, PAUSE_MS)
    return () => {
      clearTimeout(timer)
      stop.abort()
    }
  }, [ids])
  return values
}

/** A job without a record was deleted, and is not requested again. */
export function withRecords(
  old: Map<string, Values>,
  ids: string[],
  records: Values[],
): Map<string, Values> {
  const next = new Map(old)
  for (const id of ids) next.set(id, { id, texts: [], more: false })
  for (const record of records) next.set(record.id, record)
  return next
}
