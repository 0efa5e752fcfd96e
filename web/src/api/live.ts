import type { Query, QueryClient, QueryKey } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { readEvents, StreamRefused } from '../lib/sse'
import { address } from './client'
import { Pace } from './pace'

/** One change, as the server reports it. */
export interface LiveEvent {
  kind: string
  object: string
  object_id: string
  at: string
  data: Record<string, unknown>
}

export type ConnectionState = 'live' | 'connecting' | 'polling' | 'offline'
interface Status {
  link: ConnectionState
  /** When the last byte came, and when the next try is due. */
  lastByteAt: number
  next: number
}

const CHANNEL = 'belvedere-live'
const SILENCE_MS = 40_000
const FIRST_BYTE_MS = 10_000
const POLL_MS = 5_000
const SETTLE_MS = 400

let status: Status = { link: 'connecting', lastByteAt: Date.now(), next: 0 }
const watchers = new Set<() => void>()
const listeners = new Set<(events: LiveEvent[]) => void>()

function setStatus(change: Partial<Status>): void {
  status = { ...status, ...change }
  for (const watcher of watchers) watcher()
}

export function useConnectionState(): Status {
  return useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher)
      return () => watchers.delete(watcher)
    },
    () => status,
  )
}

/** Everything that happens, in batches of one animation frame; returns undo. */
export function onEvents(listener: (events: LiveEvent[]) => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/**
 * One stream per browser: the tab that holds the lock listens and passes everything on to the
 * others, because HTTP/1.1 browsers open only six connections to one server.
 */
export function startLive(client: QueryClient, onSignedOut: () => void): () => void {
  const stop = new AbortController()
  const channel = new BroadcastChannel(CHANNEL)
  const inbox = new Inbox(client)
  let isLeading = false
  channel.onmessage = ({ data }) => {
    if (data.status) setStatus(data.status)
    if (data.happened) inbox.add(data.happened)
    if (data.resync) inbox.all()
    if (data.asks && isLeading) channel.postMessage({ status })
  }
  const report = {
    status: (change: Partial<Status>) => {
      setStatus(change)
      channel.postMessage({ status: change })
    },
    begun: () => inbox.catchUp(),
    happened: (event: LiveEvent) => {
      inbox.add([event])
      channel.postMessage({ happened: [event] })
    },
    resync: () => {
      inbox.all()
      channel.postMessage({ resync: true })
    },
  }
  const lead = () => {
    isLeading = true
    return follow(report, stop.signal, onSignedOut)
  }
  if (navigator.locks) {
    navigator.locks.request(CHANNEL, { signal: stop.signal }, lead).catch(() => {})
  } else {
    // Locks need https or localhost: over plain http every tab has a stream of its own.
    void lead()
  }
  // A tab that is opened later gets the state of the stream from the tab that holds it.
  channel.postMessage({ asks: true })
  return () => {
    stop.abort()
    channel.close()
    inbox.close()
  }
}

interface StreamReport {
  status: (change: Partial<Status>) => void
  /** The stream is open for the first time. */
  begun: () => void
  happened: (event: LiveEvent) => void
  resync: () => void
}

async function follow(
  report: StreamReport,
  stop: AbortSignal,
  onSignedOut: () => void,
): Promise<void> {
  let lastId = ''
  let hasBegun = false
  let wait = 500
  while (!stop.aborted) {
    const turn = new AbortController()
    const over = () => turn.abort()
    stop.addEventListener('abort', over, { once: true })
    let timer = setTimeout(over, FIRST_BYTE_MS)
    let hasReceived = false
    try {
      for await (const message of readEvents(address('/-/events'), {
        signal: turn.signal,
        lastId,
      })) {
        clearTimeout(timer)
        timer = setTimeout(over, SILENCE_MS)
        if (!hasReceived || message.id || message.event)
          report.status({ link: 'live', lastByteAt: Date.now() })
        if (!hasBegun) report.begun()
        hasBegun = true
        hasReceived = true
        wait = 500
        if (message.id) lastId = message.id
        if (message.event === 'resync') {
          lastId = ''
          report.resync()
        } else if (message.data) report.happened(JSON.parse(message.data))
      }
    } catch (fault) {
      if (fault instanceof StreamRefused && (fault.status === 401 || fault.status === 403)) {
        if (!stop.aborted) onSignedOut()
      }
    } finally {
      clearTimeout(timer)
      stop.removeEventListener('abort', over)
    }
    if (stop.aborted) return
    const reached = hasReceived || (await isReachable())
    if (hasReceived) report.status({ link: 'connecting', next: Date.now() + wait })
    else if (reached) {
      // The server answers but no stream gets through: something on the way holds it back.
      report.status({ link: 'polling', lastByteAt: Date.now() })
      report.resync()
      wait = POLL_MS
    } else report.status({ link: 'offline', next: Date.now() + wait })
    await pause(wait * (0.75 + Math.random() / 2), stop)
    wait = Math.min(wait * 2, 15_000)
  }
}

export async function isReachable(): Promise<boolean> {
  try {
    return (await fetch(address('/-/health'), { cache: 'no-store' })).ok
  } catch {
    return false
  }
}

function pause(ms: number, stop: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const timer = setTimeout(done, ms)
    stop.addEventListener('abort', () => {
      clearTimeout(timer)
      done()
    })
  })
}

/** Fields of an event that are also fields of the records on screen. */
const PATCHED = [
  'lifecycle',
  'state',
  'value',
  'hostname',
  'started_at',
  'ended_at',
  'unreachable_since',
]

/**
 * Takes events into the cache: rows on screen are patched in the same frame; what an event does
 * not carry is read again, each kind of list at most once per SETTLE_MS however many events come.
 * Query keys begin with the object's name: ['job', 'list', …], ['job', id].
 */
class Inbox {
  private waiting: LiveEvent[] = []
  private frame = 0
  private stale = new Set<string>()
  private timer: ReturnType<typeof setTimeout> | undefined
  private readonly pace = new Pace()
  private readonly late = new Map<Query, ReturnType<typeof setTimeout>>()

  constructor(private readonly client: QueryClient) {}

  add(events: LiveEvent[]): void {
    this.waiting.push(...events)
    // A hidden tab gets no frames, and must not queue events.
    if (document.hidden) this.take()
    else this.frame ||= requestAnimationFrame(() => this.take())
  }

  all(): void {
    void this.client.invalidateQueries()
  }

  /** Reads again what was requested before the stream was open: it may be older than its beginning. */
  async catchUp(): Promise<void> {
    const early = this.client.getQueryCache().findAll({ type: 'active' })
    await Promise.allSettled(early.map((query) => query.promise))
    void this.client.invalidateQueries({ predicate: (query) => early.includes(query) })
  }

  close(): void {
    cancelAnimationFrame(this.frame)
    clearTimeout(this.timer)
    for (const timer of this.late.values()) clearTimeout(timer)
  }

  private take(): void {
    this.frame = 0
    const events = this.waiting
    this.waiting = []
    for (const listener of listeners) listener(events)
    const patches = new Map<string, Record<string, unknown>>()
    for (const event of events) {
      this.stale.add(event.object)
      const patch = pick(event.data)
      const key = `${event.object} ${event.object_id}`
      if (patch) patches.set(key, { ...patches.get(key), ...patch })
    }
    if (patches.size) this.patch(patches)
    this.timer ??= setTimeout(() => this.settle(), SETTLE_MS)
  }

  private patch(patches: Map<string, Record<string, unknown>>): void {
    const objects = new Set([...patches.keys()].map((key) => key.split(' ')[0]))
    const predicate = ({ queryKey }: { queryKey: QueryKey }) => objects.has(String(queryKey[0]))
    for (const [key, data] of this.client.getQueriesData({ predicate })) {
      const next = applyPatches(data, String(key[0]), patches)
      if (next !== data) this.client.setQueryData(key, next)
    }
  }

  private settle(): void {
    this.timer = undefined
    const objects = this.stale
    this.stale = new Set()
    this.read(
      this.client.getQueryCache().findAll({ predicate: (query) => concerns(query, objects) }),
    )
  }

  /** Reads the queries again; those that are read too often wait. */
  private read(queries: Query[]): void {
    const due = new Set<Query>()
    for (const query of queries) {
      if (this.late.has(query)) continue
      const wait = this.pace.delay(query)
      if (wait)
        this.late.set(
          query,
          setTimeout(() => this.readLate(query), wait),
        )
      else due.add(query)
    }
    void this.client.invalidateQueries({ predicate: (query) => due.has(query) })
  }

  private readLate(query: Query): void {
    this.late.delete(query)
    this.read([query])
  }
}

function concerns({ queryKey, meta }: Query, objects: Set<string>): boolean {
  // A long list reads what changed itself, row by row (pages/jobs).
  if (meta?.readsItself) return false
  const others = (meta?.after as string[]) ?? []
  return objects.has(String(queryKey[0])) || others.some((object) => objects.has(object))
}

function pick(data: Record<string, unknown>): Record<string, unknown> | null {
  const fields = Object.entries(data).filter(([name]) => PATCHED.includes(name))
  return fields.length ? Object.fromEntries(fields) : null
}

/** The same data with the rows of the patches changed; the same object when none is in it. */
export function applyPatches(
  data: unknown,
  object: string,
  patches: Map<string, Record<string, unknown>>,
): unknown {
  if (Array.isArray(data)) {
    let changed = false
    const next = data.map((row) => {
      const other = applyPatches(row, object, patches)
      changed ||= other !== row
      return other
    })
    return changed ? next : data
  }
  if (typeof data !== 'object' || data === null) return data
  if ('id' in data) {
    const patch = patches.get(`${object} ${String(data.id)}`)
    return patch ? { ...data, ...patch } : data
  }
  // An answer with a total, or the pages of an endless list.
  for (const name of ['rows', 'pages'] as const) {
    const inner = (data as Record<string, unknown>)[name]
    if (inner === undefined) continue
    const next = applyPatches(inner, object, patches)
    return next === inner ? data : { ...data, [name]: next }
  }
  return data
}
