import { Badge, Button, Group, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ok, type Shape } from '../../../api/client'
import { RecoveryCodes } from '../../../ui/account/RecoveryCodes'
import { TotpPicture } from '../../../ui/account/TotpQrCode'
import { Loaded } from '../../../ui/layout/QueryResult'
import { Section } from '../../../ui/layout/Section'
import { done, failed } from '../../../ui/toast'
import { useText } from '../text'

const KEY = ['second-factor']

/** Set-up in three steps: password, picture and code, recovery codes. */
export function SecondFactor() {
  const t = useText()
  const client = useQueryClient()
  const factor = useQuery({ queryKey: KEY, queryFn: () => ok(api.GET('/api/auth/second-factor')) })
  const [begun, setBegun] = useState<Shape<'SecretShown'> | null>(null)
  const [codes, setCodes] = useState<string[] | null>(null)
  const settle = () => client.invalidateQueries({ queryKey: KEY })
  const shown = (found: string[]) => {
    setBegun(null)
    setCodes(found)
    void settle()
  }
  return (
    <Section title={t.factor} aside={t.factorBody} padded>
      <Loaded query={factor} lines={2}>
        {(it) => (
          <Stack gap="sm">
            <Group gap={8}>
              <Badge className={it.enabled ? 'badge-ok' : undefined}>
                {it.enabled ? t.factorOn : t.factorIsOff}
              </Badge>
              {it.enabled ? <Text size="sm">{t.left(it.recovery_codes)}</Text> : null}
              {it.required ? <Text size="sm">{t.required}</Text> : null}
            </Group>
            {!it.available ? <Text size="sm">{t.factorNone}</Text> : null}
            {begun ? <Confirming begun={begun} onDone={shown} /> : null}
            {it.available && !begun ? (
              it.enabled ? (
                <Managing required={it.required} onCodes={shown} onOff={settle} />
              ) : (
                <AskPassword
                  action={t.setUp}
                  act={(password) =>
                    ok(api.POST('/api/auth/second-factor', { body: { password } })).then(setBegun)
                  }
                />
              )
            ) : null}
          </Stack>
        )}
      </Loaded>
      <RecoveryCodes codes={codes} onClose={() => setCodes(null)} />
    </Section>
  )
}

function AskPassword({
  action,
  act,
  isDanger,
}: {
  action: string
  act: (password: string) => Promise<unknown>
  isDanger?: boolean
}) {
  const t = useText()
  const [password, setPassword] = useState('')
  const run = useMutation({
    mutationFn: () => act(password),
    onError: failed,
    onSettled: () => setPassword(''),
  })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        run.mutate()
      }}
    >
      <Group align="flex-end" gap={8}>
        <PasswordInput
          required
          w={240}
          size="xs"
          label={t.currentPassword}
          autoComplete="current-password"
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
        <Button
          type="submit"
          variant={isDanger ? 'default' : 'filled'}
          c={isDanger ? 'var(--mantine-color-error)' : undefined}
          loading={run.isPending}
        >
          {action}
        </Button>
      </Group>
    </form>
  )
}

function Managing({
  required,
  onCodes,
  onOff,
}: {
  required: boolean
  onCodes: (codes: string[]) => void
  onOff: () => void
}) {
  const t = useText()
  const renew = (password: string) =>
    ok(api.POST('/api/auth/second-factor/recovery-codes', { body: { password } })).then((it) =>
      onCodes(it.recovery_codes),
    )
  const off = (password: string) =>
    ok(api.POST('/api/auth/second-factor/disable', { body: { password } })).then(() => {
      done(t.changed)
      onOff()
    })
  return (
    <>
      <AskPassword action={t.renew} act={renew} />
      {required ? null : <AskPassword action={t.turnOff} isDanger act={off} />}
    </>
  )
}

function Confirming({
  begun,
  onDone,
}: {
  begun: Shape<'SecretShown'>
  onDone: (codes: string[]) => void
}) {
  const t = useText()
  const [code, setCode] = useState('')
  const confirm = useMutation({
    mutationFn: () => ok(api.PUT('/api/auth/second-factor', { body: { code } })),
    onError: failed,
    onSuccess: (it) => onDone(it.recovery_codes),
  })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        confirm.mutate()
      }}
    >
      <Stack gap="sm">
        <Text size="sm">{t.scan}</Text>
        <TotpPicture qr={begun.qr} secret={begun.secret} />
        <Group align="flex-end" gap={8}>
          <TextInput
            required
            size="xs"
            label={t.code}
            inputMode="numeric"
            autoComplete="one-time-code"
            value={code}
            onChange={(event) => setCode(event.currentTarget.value)}
          />
          <Button type="submit" loading={confirm.isPending}>
            {t.confirm}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
