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
import type { Action, Level } from './permissions'

export interface Page {
  /** Its key in the catalogue, and the name of its badge in the counts. */
  word:
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
  to: string
  icon: LucideIcon
  /** The second key after g. */
  key?: string
  level?: Level
}

export interface Group {
  word: 'main' | 'observe' | 'automate' | 'admin'
  pages: Page[]
}

/** The navigation, once: the side bar, the palette and the keys read it. */
export const GROUPS: Group[] = [
  {
    word: 'main',
    pages: [
      { word: 'dashboard', to: '/', icon: LayoutDashboard, key: 'd' },
      { word: 'inbox', to: '/inbox', icon: Inbox, key: 'i' },
    ],
  },
  {
    word: 'observe',
    pages: [
      { word: 'monitors', to: '/monitors', icon: Activity, key: 'm' },
      { word: 'hosts', to: '/hosts', icon: Server, key: 'h' },
      { word: 'indicators', to: '/indicators', icon: Gauge, key: 'n' },
      { word: 'status', to: '/status', icon: RadioTower, level: 'admin' },
      { word: 'wall', to: '/wall', icon: Monitor },
    ],
  },
  {
    word: 'automate',
    pages: [
      { word: 'tasks', to: '/tasks', icon: Code, key: 't' },
      { word: 'workflows', to: '/workflows', icon: Workflow, key: 'w' },
      { word: 'jobs', to: '/jobs', icon: ListChecks, key: 'j' },
      { word: 'schedules', to: '/schedules', icon: CalendarClock, key: 's' },
      { word: 'webhooks', to: '/webhooks', icon: Webhook, key: 'b' },
      { word: 'scripts', to: '/scripts', icon: FileText, key: 'f', level: 'manager' },
      { word: 'secrets', to: '/secrets', icon: KeyRound, level: 'admin' },
    ],
  },
  {
    word: 'admin',
    pages: [
      { word: 'people', to: '/people', icon: Users, key: 'p', level: 'manager' },
      { word: 'audit', to: '/audit', icon: History, key: 'a', level: 'admin' },
      { word: 'settings', to: '/settings', icon: Settings },
    ],
  },
]

export const PAGES: Page[] = GROUPS.flatMap((group) => group.pages)

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
