import { address, api, ok, untypedQuery } from '../../../api/client'
import { type Message, readEvents, StreamRefused } from '../../../lib/sse'
import type { LogEnd, LogStore } from './logStore'

// The server sends a heartbeat every 15 s even when the script writes nothing.
const FIRST_WORD_MS = 20_000
const SILENCE_MS = 40_000
const POLL_MS = 3_000
const POLLING_MS = 60_000
const HIDDEN_MS = 30_000
const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 10_000

/**
 * Reads a job's output into a store: one stream from the first byte on, so that there is no seam
 * between what was written before and what comes now. After a break it goes on behind the last
 * event that was taken in whole: nothing is lost, nothing comes twice.
 */
export class LogStream {
  private lastId = ''
  private turn: AbortController | null = null
  private isStopped = false
  private isOver = false
  private cut: { from: number; to: number; line: number } | null = null
  private hiding: ReturnType<typeof setTimeout> | undefined
  private wake: () => void = () => {}
  private hasReceived = false
  private isWoken = false

  constructor(
    private readonly jobId: string,
    private readonly attempt: number | undefined,
    private readonly store: LogStore,
  ) {}

  start(): void {
    document.addEventListener('visibilitychange', this.onVisibility)
    void this.run()
  }

  stop(): void {
    this.isStopped = true
    document.removeEventListener('visibilitychange', this.onVisibility)
    clearTimeout(this.hiding)
    this.turn?.abort()
    this.wake()
  }

  /**
   * The job changed: after its end more can arrive (the result of a lost one, a retry), and a
   * stream that a proxy buffers arrives completely once the job has ended.
   */
  again(): void {
    if (this.isStopped) return
    this.isWoken = true
    this.wake()
    if (!this.isOver) return
    this.isOver = false
    void this.run()
  }

  private async run(): Promise<void> {
    let wait = FIRST_WAIT_MS
    while (!this.isStopped && !this.isOver) {
      if (document.hidden && this.store.status === 'paused') await this.pause()
      if (this.isStopped) return
      const before = this.lastId
      try {
        await this.listen()
      } catch (fault) {
        if (fault instanceof StreamRefused && fault.status >= 400 && fault.status < 500) {
          this.isOver = true
          this.store.setStatus({ status: 'failed' })
        }
      }
      this.cut = null
      if (this.isStopped || this.isOver || this.store.status === 'paused') continue
      if (!this.hasReceived) await this.look()
      if (this.lastId !== before) wait = FIRST_WAIT_MS
      this.store.setStatus({ status: 'reconnecting' })
      await this.pause(wait)
      wait = Math.min(wait * 2, LONGEST_WAIT_MS)
    }
  }

  private async listen(): Promise<void> {
    const turn = new AbortController()
    this.turn = turn
    const url = address(`/job/${this.jobId}/log`, { follow: 'true', attempt: this.attempt })
    this.hasReceived = false
    let timer = setTimeout(() => turn.abort(), FIRST_WORD_MS)
    try {
      for await (const message of readEvents(url, { signal: turn.signal, lastId: this.lastId })) {
        clearTimeout(timer)
        if (turn.signal.aborted) return
        timer = setTimeout(() => turn.abort(), SILENCE_MS)
        this.hasReceived = true
        this.take(message)
        if (this.isOver) return
      }
    } finally {
      clearTimeout(timer)
      turn.abort()
    }
  }

  /** If a proxy buffers streams: reads the log every few seconds. */
  private async look(): Promise<void> {
    const until = Date.now() + POLLING_MS
    this.isWoken = false
    while (!this.isStopped && !this.isWoken && !document.hidden && Date.now() < until) {
      const isThere = await this.poll().catch(() => false)
      if (!isThere) return
      await this.pause(POLL_MS)
    }
  }

  private async poll(): Promise<boolean> {
    const { pollLog: readOn } = await import('./pollLog')
    const next = await readOn(this.jobId, this.attempt, this.lastId, this.store)
    this.lastId = next ?? this.lastId
    return next !== null
  }

  private take(message: Message): void {
    const { store } = this
    if (message.event === 'cut') this.cut = JSON.parse(message.data)
    else if (message.event === 'output') this.output(JSON.parse(message.data))
    else if (message.event === 'attempt') store.clear(JSON.parse(message.data).number)
    else if (message.event === 'end') {
      this.isOver = true
      store.setStatus({ status: 'ended', ending: JSON.parse(message.data) as LogEnd })
    }
    // Only now: the events named here are processed.
    if (message.id) this.lastId = message.id
    if (!this.isOver && store.status !== 'live') store.setStatus({ status: 'live' })
  }

  private output(text: string): void {
    if (this.cut) this.store.cut(this.cut)
    else this.store.append(text)
    this.cut = null
  }

  private onVisibility = (): void => {
    clearTimeout(this.hiding)
    if (document.hidden) this.hiding = setTimeout(() => this.hide(), HIDDEN_MS)
    else this.wake()
  }

  /** Browsers open only six connections to a server: a hidden page closes its own. */
  private hide(): void {
    if (this.isOver) return
    this.store.setStatus({ status: 'paused' })
    this.turn?.abort()
  }

  private pause(ms?: number): Promise<void> {
    return new Promise((done) => {
      const timer = ms === undefined ? undefined : setTimeout(done, ms)
      this.wake = () => {
        clearTimeout(timer)
        done()
      }
    })
  }
}

/** Lines that a tab let go, by number. */
export function fetchLines(jobId: string, attempt: number | undefined) {
  return async (from: number, count: number) => {
    const params = { path: { id: jobId }, query: untypedQuery({ from, count, attempt }) }
    return ok(api.GET('/job/{id}/log/lines', { params }))
  }
}
