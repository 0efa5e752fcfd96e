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

/** As many monitors, hosts and jobs as an installation of medium size has. */
export async function fill(world: World, jobs = JOBS): Promise<void> {
  const { token } = await world.api('POST', '/api/enrolment', { name: 'many', uses: HOSTS })
  await many(HOSTS, (n) =>
    world.api('POST', '/-/enrol', { token, hostname: `host-${n}`, fingerprint: `f${n}` }),
  )
  const host = await world.host()
  const kinds = ['normal', 'normal', 'normal', 'failure']
  await many(MONITORS, async (n) => {
    const body = { name: `monitor ${n}`, type: 'push', host_id: host.id, looptime: 3_600_000 }
    const monitor = await world.api('POST', '/monitor', body)
    const { url } = await world.api('GET', `/monitor/${monitor.id}/credentials`)
    await fetch(new URL(new URL(url).pathname, world.url), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ state: kinds[n % kinds.length] }),
    })
  })
  const task = await world.script('one of many', 'true\n', { concurrency: 16 })
  await many(jobs, () => world.api('POST', '/job', { task: task.id }))
}
