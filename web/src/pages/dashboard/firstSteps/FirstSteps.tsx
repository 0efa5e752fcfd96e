import { Button, Group, Paper, Text, Title } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { CircleCheck, CircleDashed } from 'lucide-react'
import { useEffect } from 'react'
import { api, ok, type Shape } from '../../../api/client'
import { firstStepsQuery } from '../../../api/queries/firstSteps'
import { useHasLevel } from '../../../app/session'
import { AppLink } from '../../../ui/AppLink'
import { RemoveDemo } from '../../../ui/demo/RemoveDemo'
import { showError } from '../../../ui/toast'
import './firstSteps.css'
import { useFirstStepsText } from './firstStepsText'

/** Where each step is done. */
const PAGES: Record<string, string> = {
  run: '/tasks',
  task: '/tasks/new',
  schedule: '/schedules/new',
  host: '/hosts/add',
  notifications: '/settings/notifications',
  people: '/people',
}

const SEEN = 'first-steps-hidden'

/** The remaining steps to set up an organization. They are checked off by existing objects. */
export function FirstSteps() {
  const isAdmin = useHasLevel('admin')
  const { data } = useQuery({ ...firstStepsQuery, enabled: isAdmin })
  const isHidden = data ? !data.visible : localStorage.getItem(SEEN) === 'yes'
  useEffect(() => {
    if (data) localStorage.setItem(SEEN, data.visible ? 'no' : 'yes')
  }, [data])
  if (!isAdmin || isHidden) return null
  // The place is reserved, so that nothing moves when the steps arrive.
  return data ? <Steps data={data} /> : <div className="first-steps-place" />
}

function Steps({ data }: { data: Shape<'FirstSteps'> }) {
  const t = useFirstStepsText()
  const client = useQueryClient()
  const hide = useMutation({
    mutationFn: () => ok(api.PUT('/api/first-steps', { body: { visible: false } })),
    onSuccess: (next) => client.setQueryData(firstStepsQuery.queryKey, next as never),
    onError: showError,
  })
  const doneCount = data.steps.filter(({ done }) => done).length
  return (
    <Paper withBorder component="section" aria-label={t.title} className="first-steps">
      <Group gap={10} mb={8}>
        <Title order={2} size="h6">
          {t.title}
        </Title>
        <Text size="xs" c="dimmed">
          {t.progress(doneCount, data.steps.length)}
        </Text>
        <Group gap={8} ml="auto">
          {data.demo ? <RemoveDemo /> : null}
          <Button variant="subtle" size="compact-sm" onClick={() => hide.mutate()}>
            {t.hide}
          </Button>
        </Group>
      </Group>
      <ol className="first-steps-list">
        {data.steps.map((step) => (
          <Step key={step.name} step={step} hasDemo={data.demo > 0} />
        ))}
      </ol>
    </Paper>
  )
}

function Step({ step, hasDemo }: { step: Shape<'FirstStep'>; hasDemo: boolean }) {
  const t = useFirstStepsText()
  const Icon = step.done ? CircleCheck : CircleDashed
  const label = step.name === 'run' && !hasDemo ? t.steps.runAny : t.steps[step.name]
  return (
    <li data-done={step.done}>
      <Icon size={16} aria-label={step.done ? t.done : t.open} role="img" />
      {step.done ? (
        <Text size="sm" c="dimmed" td="line-through">
          {label}
        </Text>
      ) : (
        <AppLink to={PAGES[step.name] ?? '/'}>{label}</AppLink>
      )}
    </li>
  )
}
