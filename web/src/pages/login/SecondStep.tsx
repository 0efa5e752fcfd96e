import { Button, Text, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ok, type Shape } from '../../api/client'
import { RecoveryCodes } from '../../ui/account/RecoveryCodes'
import { TotpQrCode } from '../../ui/account/TotpQrCode'
import { LoginCard } from './LoginCard'
import { useText } from './text'

/** The next step after the password: the required code, and the ticket to send with it. */
export interface SecondStepRequest {
  step: 'totp' | 'setup'
  ticket: string
}

/** Whether an answer to a sign-in asks for more. */
export function secondStepOf(answer: Shape<'LoginAnswer'>): SecondStepRequest | null {
  if (!answer.second_factor || !answer.ticket) return null
  return { step: answer.second_factor === 'setup' ? 'setup' : 'totp', ticket: answer.ticket }
}

interface Props {
  request: SecondStepRequest
  onIn: () => void
  onOver: () => void
}

/** After the password: a code, or first an app to make codes with. */
export function SecondStep({ request, onIn, onOver }: Props) {
  const t = useText()
  const { ticket } = request
  const isNew = request.step === 'setup'
  const [code, setCode] = useState('')
  const [codes, setCodes] = useState<string[] | null>(null)
  const begun = useQuery({
    queryKey: ['factor-setup', ticket],
    queryFn: () => ok(api.POST('/api/auth/login/second-factor/setup', { body: { ticket } })),
    enabled: isNew,
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  const enter = useMutation({
    mutationFn: () => ok(api.POST('/api/auth/login/second-factor', { body: { ticket, code } })),
    onSuccess: (answer) =>
      answer.recovery_codes?.length ? setCodes(answer.recovery_codes) : onIn(),
  })
  return (
    <LoginCard
      title={isNew ? t.factorTitle : t.codeTitle}
      error={enter.error ?? begun.error}
      onSubmit={() => enter.mutate()}
    >
      {begun.data ? (
        <>
          <Text size="sm">{t.factorBody}</Text>
          <TotpQrCode qr={begun.data.qr} secret={begun.data.secret} />
        </>
      ) : null}
      <TextInput
        required
        autoFocus
        label={t.code}
        description={isNew ? undefined : t.codeHelp}
        autoComplete="one-time-code"
        value={code}
        onChange={(event) => setCode(event.currentTarget.value)}
      />
      <Button type="submit" size="sm" loading={enter.isPending}>
        {t.goOn}
      </Button>
      <Button variant="subtle" color="gray" onClick={onOver}>
        {t.startOver}
      </Button>
      <RecoveryCodes codes={codes} onClose={onIn} />
    </LoginCard>
  )
}
