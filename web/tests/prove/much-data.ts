import type { World } from '../browser/world'

export const MONITORS = 207
export const HOSTS = 202
export const JOBS = 5_000

/** Calls in parallel, a few at a time. */
export async function many(
  count: number,
  call: (n: number) => Promise<unknown>,
  lanes = 8,
): Promise<void> {
  let next = 0
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      while (next < count) await call(next++)
    }),
  )
}

/** The state of the monitor with this number: one of four fails. */
export function firstState(n: number): string {
  return n % 4 === 3 ? 'failure' : 'normal'
}

/** A result of the monitor with this push address. */
export async function pushResult(url: string, state: string): Promise<void> {
  await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ state }),
  })
}

/** As many monitors, hosts and jobs as an installation of medium size has. The push addresses of
 * the monitors. */
export async function fill(world: World, jobs = JOBS): Promise<string[]> {
  const { token } = await world.api('POST', '/api/enrolment', { name: 'many', uses: HOSTS })
  await many(HOSTS, (n) =>
    world.api('POST', '/-/enrol', { token, hostname: `host-${n}`, fingerprint: `f${n}` }),
  )
  const host = await world.host()
  const pushUrls: string[] = []
  await many(MONITORS, async (n) => {
    const kind = { type: 'push', looptime: 3_600_000, fail_threshold: 1 }
    const body = { name: `monitor ${n}`, host_id: host.id, ...kind }
    const monitor = await world.api('POST', '/monitor', body)
    const { url } = await world.api('GET', `/monitor/${monitor.id}/credentials`)
    pushUrls[n] = new URL(new URL(url).pathname, world.url).href
    await pushResult(pushUrls[n], firstState(n))
  })
  const task = await world.script('one of many', 'true\n', { concurrency: 16 })
  await many(jobs, () => world.api('POST', '/job', { task: task.id }))
  return pushUrls
}
