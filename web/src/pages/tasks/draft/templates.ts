import type { Task } from '../../../api/queries/automation/task'
import type { Argument } from '../../../ui/arguments/values'

export interface Template {
  task: Task
  source: string
  filename: string
}

const HOUR = 3_600_000

/** A definition with nothing in it yet. */
export function emptyTask(type: Task['type']): Task {
  return {
    type,
    name: '',
    description: '',
    enable: true,
    tags: [],
    task_arguments: [],
    timeout: null,
    concurrency: null,
    retry: null,
    grace_time: 0,
    cancellable: true,
    expires: 7 * 24 * HOUR,
    history: { count: 1000, days: 90, inherited: true },
    notify: true,
    user_inputs: false,
    version: 0,
    id: '',
    acl: [],
    triggers: [],
    ...BY_TYPE[type],
  } as unknown as Task
}

const BY_TYPE: Record<Task['type'], object> = {
  script: { host_id: null, script_runas: '', os_user: '', env: {}, default_state_evaluation: '' },
  scraper: {
    host_id: null,
    url: '',
    method: 'GET',
    headers: {},
    body: '',
    parser: '',
    pattern: '',
  },
  approval: {
    approvers: [],
    approvals_target: 'fixed',
    default_answer: 'reject',
    four_eyes: false,
  },
  dummy: {},
  notification: { subject: '', body: '', recipients: [], notificationTypes: {} },
}

export function newArgument(type: Argument['type'], more: Partial<Argument> = {}): Argument {
  return {
    type,
    label: '',
    id: null,
    order: 0,
    value: null,
    help: '',
    readonly: false,
    required: true,
    multiple: false,
    options: [],
    endpoint_url: '',
    id_attribute: '',
    text_attribute: '',
    masked: false,
    charsmin: null,
    charsmax: null,
    pattern: '',
    ...more,
  }
}

const SHELL = `#!/bin/bash
set -euo pipefail

echo "Hello from $(hostname)"
df -h /
`
const PYTHON = `#!/usr/bin/env python3
import json
import sys


def main(name: str) -> None:
    print(f"Hello, {name}")
    # The last line is the result that the task hands on.
    print(json.dumps({"state": "success", "output": [name]}))


main(*sys.argv[1:])
`

/** Ways to begin; each can be run as it is, once it has a name and a host. */
export function templateOf(name: string | undefined): Template {
  const template = MADE[name ?? 'shell'] ?? MADE.shell!
  return template()
}

const MADE: Record<string, () => Template> = {
  shell: () => ({ task: emptyTask('script'), source: SHELL, filename: 'script.sh' }),
  python: () => ({
    task: {
      ...emptyTask('script'),
      task_arguments: [newArgument('input', { label: 'name', value: 'world' })],
    },
    source: PYTHON,
    filename: 'script.py',
  }),
  request: () => ({
    task: { ...emptyTask('scraper'), status_code: '2..' },
    source: '',
    filename: '',
  }),
  approval: () => ({ task: emptyTask('approval'), source: '', filename: '' }),
  notification: () => ({ task: emptyTask('notification'), source: '', filename: '' }),
  input: () => ({
    task: { ...emptyTask('dummy'), task_arguments: [newArgument('input', { label: 'answer' })] },
    source: '',
    filename: '',
  }),
}
