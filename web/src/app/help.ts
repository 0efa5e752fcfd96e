/**
 * The page of the documentation for each page of the console. The first row that the path of the
 * page begins with counts, so longer paths come first.
 */
export const HELP: [path: string, page: string][] = [
  ['/inbox', 'howto/ask-for-approval'],
  ['/monitors/new', 'howto/watch-a-website'],
  ['/monitors', 'reference/monitors'],
  ['/hosts/add', 'howto/install-a-second-host'],
  ['/hosts', 'reference/hosts'],
  ['/indicators/new', 'howto/show-a-value'],
  ['/indicators', 'reference/indicators'],
  ['/status', 'reference/statuspages'],
  ['/tasks', 'reference/tasks'],
  ['/workflows/new', 'howto/run-tasks-in-order'],
  ['/workflows', 'reference/workflows'],
  ['/jobs', 'reference/jobs'],
  ['/schedules/new', 'howto/run-a-task-every-night'],
  ['/schedules', 'reference/schedules'],
  ['/webhooks/new', 'howto/deploy-from-github'],
  ['/webhooks', 'reference/webhooks'],
  ['/scripts', 'reference/scripts'],
  ['/secrets', 'reference/secrets'],
  ['/people', 'reference/access#levels'],
  ['/audit', 'reference/access#audit'],
  ['/settings/notifications', 'howto/get-notified-of-failures'],
  ['/settings/retention', 'reference/jobs#history'],
  ['/settings/security', 'howto/second-factor'],
  ['/settings/credentials', 'reference/access#credentials'],
  ['/settings/organization', 'reference/access#organizations'],
  ['/settings/appearance', 'reference/console#accessibility'],
  ['/settings', 'reference/access'],
]
export const DASHBOARD_HELP = 'reference/console'

/** `/acme/jobs/1` is the job's page of the organization acme. */
export function helpPage(path: string): string {
  const place = `${path.replace(/^\/[^/]*/, '')}/`
  return HELP.find(([start]) => place.startsWith(`${start}/`))?.[1] ?? DASHBOARD_HELP
}

/** `root` is the address of the server, maybe behind a prefix. */
export function helpAddress(root: string, path: string): string {
  const [page, anchor] = helpPage(path).split('#')
  return `${root}-/docs/${page}.html${anchor ? `#${anchor}` : ''}`
}
