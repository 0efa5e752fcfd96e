import { Alert, Button, Group, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Activity } from 'lucide-react'
import { api, ok, type Shape } from '../../../api/client'
import { FormError } from '../../../ui/form/EditForm'
import { bodyOf, type Values } from './kinds'
import { useKindText } from './kindText'

type Trial = Shape<'TrialRecord'>

const POLL_MS = 500

interface Props {
  kind: string
  values: Values
}

/** A real check by the chosen host's agent, before the monitor is created. */
export function CheckNow({ kind, values }: Props) {
  const t = useKindText()
  const start = useMutation({
    mutationFn: () => {
      const body = { ...bodyOf(kind, values), type: kind } as Shape<'MonitorBody'>
      return ok<Trial>(api.POST('/monitor/trial', { body }))
    },
  })
  const id = start.data?.id ?? ''
  const query = useQuery({
    queryKey: ['monitor-trial', id],
    queryFn: () => ok<Trial>(api.GET('/monitor/trial/{id}', { params: { path: { id } } })),
    enabled: !!id,
    refetchInterval: ({ state }) => (isWaiting(state.data) ? POLL_MS : false),
  })
  const trial = id ? (query.data ?? start.data) : undefined
  const isBusy = start.isPending || (!!id && isWaiting(trial) && !query.error)
  return (
    <>
      <Button
        variant="default"
        leftSection={<Activity size={14} />}
        loading={isBusy}
        onClick={() => start.mutate()}
      >
        {t.checkNow}
      </Button>
      <div className="mon-trial" role="status">
        {trial && !isBusy ? <TrialResult trial={trial} /> : null}
        {start.error ? <Text size="sm">{start.error.message}</Text> : null}
        <FormError error={query.error} />
      </div>
    </>
  )
}

function isWaiting(trial: Trial | undefined): boolean {
  return !trial || trial.state === 'waiting'
}

function TrialResult({ trial }: { trial: Trial }) {
  const t = useKindText()
  const isGood = trial.state === 'normal' || trial.state === 'changed'
  const figures = Object.entries(trial.measured ?? {})
  const word = trial.state === 'expired' ? 'expired' : isGood ? 'good' : 'bad'
  return (
    <Alert color={isGood ? 'green' : 'red'} title={t.trial[word]}>
      {trial.message ? <Text size="sm">{trial.message}</Text> : null}
      {figures.length ? (
        <Group gap={12}>
          {figures.map(([name, value]) => (
            <Text key={name} size="xs" className="num">
              {name}: {Math.round(value * 100) / 100}
            </Text>
          ))}
        </Group>
      ) : null}
    </Alert>
  )
}
