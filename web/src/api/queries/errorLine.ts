import { queryOptions } from '@tanstack/react-query'
import { type ErrorLine, firstErrorLine, lastLine } from '../../ui/job/firstError'
import { api, ok, type Shape, untypedQuery } from '../client'

/** The server returns no more lines at once. */
export const PAGE_LINES = 5_000
/** Pages that are searched from the start; of a longer log only the last page is searched, too. */
const MAX_PAGES = 4

export interface LogError extends ErrorLine {
  /** The first error, an error among the last lines, or only the last line. */
  kind: 'first' | 'late' | 'last'
}

/** The line of the log that explains best why the job failed; null without output. */
export const errorLineQuery = (id: string) =>
  queryOptions({
    queryKey: ['job', id, 'error-line'],
    queryFn: () => findErrorLine((from) => readLines(id, from)),
    staleTime: Number.POSITIVE_INFINITY,
  })

type Page = Pick<Shape<'LogLines'>, 'first' | 'lines' | 'total_lines'>

function readLines(id: string, from: number): Promise<Page> {
  const query = untypedQuery({ from, count: PAGE_LINES })
  return ok(api.GET('/job/{id}/log/lines', { params: { path: { id }, query } }) as never)
}

export async function findErrorLine(
  read: (from: number) => Promise<Page>,
): Promise<LogError | null> {
  let page = await read(1)
  for (let count = 1; ; count++) {
    const error = firstErrorLine(page.lines, page.first)
    if (error) return { ...error, kind: 'first' }
    const next = page.first + page.lines.length
    if (next > page.total_lines || page.lines.length === 0 || count === MAX_PAGES) break
    page = await read(next)
  }
  return lateError(page, read)
}

/** For a log that is longer than what was searched. */
async function lateError(
  page: Page,
  read: (from: number) => Promise<Page>,
): Promise<LogError | null> {
  const isSearched = page.first + page.lines.length > page.total_lines
  const end = isSearched ? page : await read(Math.max(1, page.total_lines - PAGE_LINES + 1))
  const error = isSearched ? null : firstErrorLine(end.lines, end.first)
  if (error) return { ...error, kind: 'late' }
  const last = lastLine(end.lines, end.first)
  return last && { ...last, kind: 'last' }
}
