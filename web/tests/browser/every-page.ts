import { PAGES } from '../../src/app/pages'
import type { World } from './world'

/** Every page of the navigation, and those behind them, with a record where a page needs one. */
export async function everyPage(world: World): Promise<string[]> {
  const first = async (path: string) =>
    (await world.api<{ id: string; name?: string }[]>('GET', path))[0]!.id
  const tasks = await world.api<{ id: string; name: string }[]>('GET', '/task')
  const count = tasks.find((task) => task.name === 'Count slowly')!
  const job = await world.api('POST', '/job', { task: count.id })
  const statusPage = await withIncident(world)
  const [task, indicator, schedule, workflow, monitor, host, webhook, script] = [
    count.id,
    await first('/indicator'),
    await first('/schedule'),
    await first('/workflows'),
    await first('/monitor'),
    await first('/host'),
    await first('/webhook'),
    await first('/script'),
  ]
  return [
    ...PAGES.map((page) => page.to),
    '/monitors/new',
    '/monitors/new?kind=scraper',
    `/monitors/${monitor}`,
    `/monitors/${monitor}/history`,
    `/monitors/${monitor}/settings`,
    '/hosts/add',
    `/hosts/${host}`,
    '/indicators/new',
    `/indicators/${indicator}`,
    `/indicators/${indicator}/edit`,
    '/status/new',
    `/status/${statusPage.id}`,
    '/tasks/new',
    `/tasks/${task}`,
    `/tasks/${task}/triggers`,
    `/tasks/${task}/jobs`,
    `/tasks/${task}/access`,
    `/tasks/${task}/api`,
    `/tasks/${task}/history`,
    '/workflows/new',
    `/workflows/${workflow}`,
    `/workflows/${workflow}/graph?edit=true`,
    `/workflows/${workflow}/graph?table=true`,
    `/workflows/${workflow}/jobs`,
    `/workflows/${workflow}/triggers`,
    `/workflows/${workflow}/settings`,
    `/jobs/${job.id}`,
    `/jobs/${job.id}/result`,
    `/jobs/${job.id}/input`,
    `/jobs/${job.id}/json`,
    '/schedules/new',
    `/schedules/${schedule}`,
    '/webhooks/new',
    `/webhooks/${webhook}`,
    '/scripts/new',
    `/scripts/${script}`,
    '/jobs/held',
    '/settings/organization',
    '/settings/credentials',
    '/settings/notifications',
    '/settings/retention',
    '/settings/appearance',
    '/settings/security',
    '/settings/about',
  ]
}

/** A status page with a posted incident. */
async function withIncident(world: World): Promise<{ id: string }> {
  const [monitor] = await world.api<{ id: string }[]>('GET', '/monitor')
  const parts = [{ name: 'Shop', monitor_id: monitor!.id }]
  const page = await world.api('POST', '/statuspage', { title: 'Acme', slug: 'acme', parts })
  const incident = { title: 'Payments are slow', text: 'We are looking into it.' }
  await world.api('POST', `/statuspage/${page.id}/incident`, incident)
  return page
}
