import { PAGES } from './pages'

/** Pages below those of the navigation that have a page of the documentation of their own. */
const SUBPAGES: [path: string, page: string][] = [
  ['/monitors/new', 'howto/watch-a-website'],
  ['/hosts/add', 'howto/install-a-second-host'],
  ['/indicators/new', 'howto/show-a-value'],
  ['/workflows/new', 'howto/run-tasks-in-order'],
  ['/schedules/new', 'howto/run-a-task-every-night'],
  ['/webhooks/new', 'howto/deploy-from-github'],
  ['/settings/notifications', 'howto/get-notified-of-failures'],
  ['/settings/retention', 'reference/jobs#history'],
  ['/settings/security', 'howto/second-factor'],
  ['/settings/credentials', 'reference/access#credentials'],
  ['/settings/organization', 'reference/access#organizations'],
  ['/settings/appearance', 'reference/console#accessibility'],
]

/** The first row that the path of the page begins with counts, so longer paths come first. */
export const HELP = [...SUBPAGES, ...PAGES.map((page) => [page.to, page.help] as const)]
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
