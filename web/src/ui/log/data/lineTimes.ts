import { api, ok, untypedQuery } from '../../../api/client'
import { dateTime, time } from '../../../lib/format'
import type { LogStore } from './logStore'

interface Mark {
  line: number
  at: string
}

const AGAIN_MS = 1_000

/** When lines were written, in the reader's zone; requested as far as lines are viewed. */
export class LineTimes {
  private marks: Mark[] = []
  /** Lines up to this one have their mark. */
  private loadedUntil = 0
  private requestedUntil = 0
  private coming: ReturnType<typeof setTimeout> | undefined

  constructor(
    private readonly jobId: string,
    private readonly attempt: number | undefined,
    private readonly store: LogStore,
  ) {}

  /** With the day where another one begins; nothing while it is not known. */
  at(line: number): string {
    if (line > this.loadedUntil) this.request()
    const n = this.find(line)
    const mark = this.marks[n]
    if (!mark || line > this.loadedUntil) return ''
    const isNewDay = mark.line === line && day(mark) !== day(this.marks[n - 1])
    return isNewDay ? `${day(mark)} ${time(mark.at)}` : time(mark.at)
  }

  /** The last mark at or before a line. */
  private find(line: number): number {
    let low = 0
    let high = this.marks.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.marks[middle]!.line <= line) low = middle + 1
      else high = middle
    }
    return low - 1
  }

  /** Not more often than once a second, however many rows ask. */
  private request(): void {
    this.coming ||= setTimeout(
      () => void this.fetch(),
      Math.max(0, this.requestedUntil + AGAIN_MS - Date.now()),
    )
  }

  private async fetch(): Promise<void> {
    this.requestedUntil = Date.now()
    const until = this.store.lines
    try {
      let next: number | null = this.marks.at(-1)?.line ?? 1
      while (next !== null) next = await this.read(next)
      this.loadedUntil = until
    } catch {
      // Requested again when the rows are drawn again.
    }
    this.coming = undefined
    this.store.setStatus({})
  }

  private async read(from: number): Promise<number | null> {
    const path = { id: this.jobId }
    const query = untypedQuery({ from, attempt: this.attempt })
    const times = await ok(api.GET('/job/{id}/log/times', { params: { path, query } }))
    const fresh = times.marks.filter((mark) => mark.line > (this.marks.at(-1)?.line ?? 0))
    this.marks.push(...fresh)
    return times.next
  }
}

function day(mark: Mark | undefined): string {
  return mark ? dateTime(mark.at, { month: '2-digit', day: '2-digit' }) : ''
}
