/** One pattern for forms and dialogs: the same words in the same places. */
import { posix } from 'node:path'
import { expect, test } from 'vitest'
import { filesBelow, textOf } from './source'

const components = filesBelow('src').filter(
  (path) => path.endsWith('.tsx') && !path.endsWith('.test.tsx'),
)

/** Dialogs and forms get their buttons from these components. */
const FORMS = [
  'src/ui/form/ConfirmDialog.tsx',
  'src/ui/form/FormDialog.tsx',
  'src/ui/formPage/FormActions.tsx',
]
/** Neither create nor save: sign-in, codes, a wizard, a command, a quick start, a post. */
const OTHERS = [
  'src/pages/hosts/detail/ExecDialog.tsx',
  'src/pages/login/',
  'src/pages/monitors/list/EmptyMonitors.tsx',
  'src/pages/settings/account/',
  'src/pages/settings/notifications/WizardForm.tsx',
  'src/pages/status/PostedIncidents.tsx',
  'src/pages/status/public/Subscribe.tsx',
  'src/pages/tasks/form/NewTaskPage.tsx',
]

test('forms get Create, Save and Cancel from one component', () => {
  const exceptions = components
    .filter((path) => textOf(path).includes('type="submit"'))
    .filter((path) => ![...FORMS, ...OTHERS].some((prefix) => path.startsWith(prefix)))
  expect(exceptions).toEqual([])
})

test('dialogs are made by one component, which keeps keys from the page behind them', () => {
  const others = components.filter((path) =>
    /\b(?:Modal|Drawer)\b[^;]*? from '@mantine\/core'/.test(textOf(path)),
  )
  expect(others).toEqual(['src/ui/acl/AclDrawer.tsx', 'src/ui/form/Dialog.tsx'])
})

/** A toolbar, and settings with one or two fields in a line. */
const OTHER_SAVES = [
  'src/pages/workflows/editor/WorkflowEditor.tsx',
  'src/pages/settings/organization/',
]

test('a page has one Save button, at its end', () => {
  const exceptions = components
    .filter((path) => /^\s+\{w\.save\}$/m.test(textOf(path)))
    .filter((path) => ![...FORMS, ...OTHER_SAVES].some((prefix) => path.startsWith(prefix)))
  expect(exceptions).toEqual([])
})

/** The words of the catalogues that a component imports: texts by key. */
function wordsOf(path: string): Map<string, string[]> {
  const words = new Map<string, string[]>()
  for (const [, name] of textOf(path).matchAll(/from '(\.[^']*\b(?:text|[a-z]\w*Text))'/g))
    for (const [, key, text] of catalogueAt(posix.join(posix.dirname(path), `${name}.ts`)))
      words.set(key!, [...(words.get(key!) ?? []), text!])
  return words
}

function catalogueAt(path: string): RegExpMatchArray[] {
  return [...textOf(path).matchAll(/^\s+(\w+): '([^'\n]*)',?$/gm)]
}

interface Dialog {
  path: string
  /** Every text that its button can have. */
  labels: string[]
  hasOwnDismiss: boolean
}

/** Dialogs with a button whose text comes from a catalogue. */
function dialogsIn(path: string): Dialog[] {
  const words = wordsOf(path)
  return [...textOf(path).matchAll(/<(?:ConfirmDialog|FormDialog)\b([\s\S]*?)>\n/g)].map(
    ([, attributes = '']) => {
      const action = /action=\{([^}]*)\}/.exec(attributes)?.[1] ?? ''
      const keys = [...action.matchAll(/\b\w+\.(\w+)\b/g)].map((match) => match[1]!)
      return {
        path,
        labels: keys.flatMap((key) => [...(words.get(key) ?? [])]),
        hasOwnDismiss: attributes.includes('dismiss='),
      }
    },
  )
}

const dialogs = components.flatMap(dialogsIn)

test('dialogs and their labels are found', () => {
  expect(dialogs.length).toBeGreaterThan(25)
  const cancel = dialogs.find(({ path }) => path.endsWith('jobs/detail/JobActions.tsx'))
  expect(cancel).toMatchObject({ hasOwnDismiss: true })
  expect(cancel?.labels).toContain('Cancel job')
})

const VAGUE = ['OK', 'Yes', 'No', 'Confirm', 'Submit', 'Continue', 'Apply', 'Send', 'Cancel']

test('the button of a dialog says what it does', () => {
  const lines = dialogs.flatMap(({ path, labels }) =>
    labels.filter((label) => VAGUE.includes(label)).map((label) => `${path}: ${label}`),
  )
  expect(lines).toEqual([])
})

test('a dialog that cancels something does not offer Cancel as the way out', () => {
  const confusing = dialogs
    .filter(
      ({ labels, hasOwnDismiss }) =>
        !hasOwnDismiss && labels.some((label) => /^Cancel/.test(label)),
    )
    .map(({ path }) => path)
  expect(confusing).toEqual([])
})
