import {
  Activity,
  CalendarClock,
  Code,
  FileText,
  Gauge,
  History,
  Inbox,
  KeyRound,
  LayoutDashboard,
  ListChecks,
  type LucideIcon,
  Monitor,
  RadioTower,
  Server,
  Settings,
  Users,
  Webhook,
  Workflow,
} from 'lucide-react'
import { catalogue } from '../lib/i18n'
import type { Action, Level } from './permissions'

export type PageName =
  | 'dashboard'
  | 'inbox'
  | 'monitors'
  | 'hosts'
  | 'indicators'
  | 'tasks'
  | 'workflows'
  | 'jobs'
  | 'schedules'
  | 'webhooks'
  | 'scripts'
  | 'secrets'
  | 'people'
  | 'status'
  | 'wall'
  | 'audit'
  | 'settings'

/** A page of the navigation: everything that the side bar, the palette, the keys and the help need. */
export interface Page {
  /** Also the name of its badge in the counts. */
  name: PageName
  /** In English and in Spanish. */
  titles: readonly [english: string, spanish: string]
  to: string
  icon: LucideIcon
  /** Its page of the documentation. */
  help: string
  /** The second key after g. */
  key?: string
  /** The lowest level that sees it; everybody, if it is missing. */
  level?: Level
}

export interface Group {
  word: 'main' | 'observe' | 'automate' | 'admin'
  pages: Page[]
}

export const GROUPS: Group[] = [
  {
    word: 'main',
    pages: [
      {
        name: 'dashboard',
        titles: ['Dashboard', 'Panel'],
        to: '/',
        icon: LayoutDashboard,
        help: 'reference/console',
        key: 'd',
      },
      {
        name: 'inbox',
        titles: ['Inbox', 'Bandeja'],
        to: '/inbox',
        icon: Inbox,
        help: 'howto/ask-for-approval',
        key: 'i',
      },
    ],
  },
  {
    word: 'observe',
    pages: [
      {
        name: 'monitors',
        titles: ['Monitors', 'Monitores'],
        to: '/monitors',
        icon: Activity,
        help: 'reference/monitors',
        key: 'm',
      },
      {
        name: 'hosts',
        titles: ['Hosts', 'Equipos'],
        to: '/hosts',
        icon: Server,
        help: 'reference/hosts',
        key: 'h',
      },
      {
        name: 'indicators',
        titles: ['Indicators', 'Indicadores'],
        to: '/indicators',
        icon: Gauge,
        help: 'reference/indicators',
        key: 'n',
      },
      {
        name: 'status',
        titles: ['Status pages', 'Páginas de estado'],
        to: '/status',
        icon: RadioTower,
        help: 'reference/statuspages',
        level: 'admin',
      },
      {
        name: 'wall',
        titles: ['Wall', 'Pared'],
        to: '/wall',
        icon: Monitor,
        help: 'reference/console',
      },
    ],
  },
  {
    word: 'automate',
    pages: [
      {
        name: 'tasks',
        titles: ['Tasks', 'Tareas'],
        to: '/tasks',
        icon: Code,
        help: 'reference/tasks',
        key: 't',
      },
      {
        name: 'workflows',
        titles: ['Workflows', 'Flujos'],
        to: '/workflows',
        icon: Workflow,
        help: 'reference/workflows',
        key: 'w',
      },
      {
        name: 'jobs',
        titles: ['Jobs', 'Trabajos'],
        to: '/jobs',
        icon: ListChecks,
        help: 'reference/jobs',
        key: 'j',
      },
      {
        name: 'schedules',
        titles: ['Schedules', 'Horarios'],
        to: '/schedules',
        icon: CalendarClock,
        help: 'reference/schedules',
        key: 's',
      },
      {
        name: 'webhooks',
        titles: ['Webhooks', 'Webhooks'],
        to: '/webhooks',
        icon: Webhook,
        help: 'reference/webhooks',
        key: 'b',
      },
      {
        name: 'scripts',
        titles: ['Scripts', 'Scripts'],
        to: '/scripts',
        icon: FileText,
        help: 'reference/scripts',
        key: 'f',
        level: 'manager',
      },
      {
        name: 'secrets',
        titles: ['Secrets', 'Secretos'],
        to: '/secrets',
        icon: KeyRound,
        help: 'reference/secrets',
        level: 'admin',
      },
    ],
  },
  {
    word: 'admin',
    pages: [
      {
        name: 'people',
        titles: ['People & access', 'Personas y acceso'],
        to: '/people',
        icon: Users,
        help: 'reference/access#levels',
        key: 'p',
        level: 'manager',
      },
      {
        name: 'audit',
        titles: ['Audit log', 'Auditoría'],
        to: '/audit',
        icon: History,
        help: 'reference/access#audit',
        key: 'a',
        level: 'admin',
      },
      {
        name: 'settings',
        titles: ['Settings', 'Ajustes'],
        to: '/settings',
        icon: Settings,
        help: 'reference/access',
      },
    ],
  },
]

export const PAGES: Page[] = GROUPS.flatMap((group) => group.pages)

export const useNavTitles = catalogue(titlesIn(0), titlesIn(1))

function titlesIn(language: 0 | 1): Record<PageName, string> {
  const titles = PAGES.map((page) => [page.name, page.titles[language]])
  return Object.fromEntries(titles)
}

/** Objects that can be created: the word, the page and the required permission. */
export const CREATE = [
  ['newTask', '/tasks/new', 'task.edit'],
  ['newWorkflow', '/workflows/new', 'workflow.edit'],
  ['newMonitor', '/monitors/new', 'monitor.edit'],
  ['newHost', '/hosts/add', 'host.edit'],
  ['newSchedule', '/schedules/new', 'schedule.edit'],
  ['newWebhook', '/webhooks/new', 'webhook.edit'],
  ['newScript', '/scripts/new', 'script.edit'],
  ['newIndicator', '/indicators/new', 'indicator.edit'],
] as const satisfies [string, string, Action][]
