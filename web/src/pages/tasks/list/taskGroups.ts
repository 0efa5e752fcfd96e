import type { TaskLine } from '../../../api/queries/automation/task'
import { jobLook, type Look } from '../../../lib/state'
import type { TasksSearch } from '../search'

const LETTERS: Record<string, Look> = { n: 'ok', f: 'fail', x: 'cancel', l: 'lost', r: 'run' }

/** The letters of the board as looks, oldest first. */
export function looksOf(letters: string): Look[] {
  return [...letters].map((letter) => LETTERS[letter] ?? 'stop')
}

export function lookOf(line: TaskLine): Look | null {
  return line.last_job ? jobLook(line.last_job) : null
}

const GROUPS: Record<string, Look[]> = {
  ok: ['ok'],
  fail: ['fail', 'lost'],
  run: ['run', 'queue', 'wait'],
}

export function hasLastResult(line: TaskLine, last: TasksSearch['last']): boolean {
  if (!last) return true
  const look = lookOf(line)
  return last === 'never' ? look === null : look !== null && GROUPS[last]!.includes(look)
}

export interface Group {
  name: string
  lines: TaskLine[]
}

/** One group per name, in their order. */
export function groupTasks(lines: TaskLine[]): Group[] {
  const groups = new Map<string, Group>()
  for (const line of lines) {
    const group = groups.get(line.name)
    if (group) group.lines.push(line)
    else groups.set(line.name, { name: line.name, lines: [line] })
  }
  return [...groups.values()]
}
